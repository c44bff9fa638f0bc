use sensor_core::{Kind, Reading};

pub fn to_line(r: &Reading) -> String {
    let field = match r.kind {
        Kind::Moisture => "moisture",
        Kind::Temperature => "temperature",
        Kind::Battery => "battery",
    };
    format!("soil,sensor={} {}={}", r.sensor, field, r.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_a_reading() {
        let r = Reading::new("a1", Kind::Moisture, 25.0);
        assert_eq!(to_line(&r), "soil,sensor=a1 moisture=25");
    }
}
