use serde::Deserialize;
use std::path::Path;

#[derive(Debug, Deserialize)]
pub struct Settings {
    pub mqtt: MqttSettings,
    pub influx: InfluxSettings,
}

#[derive(Debug, Deserialize)]
pub struct MqttSettings {
    pub host: String,
    pub port: u16,
    pub client_id: String,
    pub topics: Vec<String>,
    pub keep_alive_secs: u64,
}

#[derive(Debug, Deserialize)]
pub struct InfluxSettings {
    pub url: String,
    pub bucket: String,
    pub batch_size: usize,
    pub flush_interval_ms: u64,
}

impl Settings {
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        Ok(toml::from_str(&std::fs::read_to_string(path)?)?)
    }
}
