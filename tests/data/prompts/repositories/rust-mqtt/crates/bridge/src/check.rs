use crate::settings::Settings;

pub fn check(settings: &Settings) -> anyhow::Result<()> {
    for topic in &settings.mqtt.topics {
        if topic.is_empty() || topic.contains(' ') {
            anyhow::bail!("bad topic {topic:?}");
        }
    }
    println!("config ok");
    Ok(())
}
