use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Kind {
    Moisture,
    Temperature,
    Battery,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    pub sensor: String,
    pub kind: Kind,
    pub value: f32,
}

impl Reading {
    pub fn new(sensor: &str, kind: Kind, value: f32) -> Self {
        Reading { sensor: sensor.into(), kind, value }
    }

    pub fn is_plausible(&self) -> bool {
        match self.kind {
            Kind::Moisture => (0.0..=100.0).contains(&self.value),
            Kind::Temperature => (-40.0..=85.0).contains(&self.value),
            Kind::Battery => (0.0..=5.0).contains(&self.value),
        }
    }
}
