use crate::backoff::next_delay;
use crate::settings::Settings;
use rumqttc::{AsyncClient, Event, MqttOptions, Packet, QoS};
use sensor_core::decode;
use sink_influx::InfluxWriter;
use std::time::Duration;

pub async fn run(settings: Settings) -> anyhow::Result<()> {
    let mut opts = MqttOptions::new(&settings.mqtt.client_id, &settings.mqtt.host, settings.mqtt.port);
    opts.set_keep_alive(Duration::from_secs(settings.mqtt.keep_alive_secs));
    let (client, mut eventloop) = AsyncClient::new(opts, 64);
    for t in &settings.mqtt.topics {
        client.subscribe(t, QoS::AtLeastOnce).await?;
    }
    let mut writer = InfluxWriter::new(&settings.influx.url, &settings.influx.bucket, settings.influx.batch_size);
    let mut attempt = 0;
    loop {
        match eventloop.poll().await {
            Ok(Event::Incoming(Packet::Publish(p))) => {
                attempt = 0;
                let sensor = p.topic.split('/').nth(1).unwrap();
                match decode(sensor, &p.payload) {
                    Ok(r) if r.is_plausible() => writer.push(r).await?,
                    Ok(r) => tracing::warn!(?r, "implausible"),
                    Err(e) => tracing::warn!(%e, "decode failed"),
                }
            }
            Ok(_) => {}
            Err(e) => {
                tracing::error!(%e, "mqtt connection lost");
                tokio::time::sleep(next_delay(attempt)).await;
                attempt += 1;
            }
        }
    }
}
