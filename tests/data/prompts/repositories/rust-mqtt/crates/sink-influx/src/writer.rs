use crate::line::to_line;
use sensor_core::Reading;

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("http: {0}")]
    Http(#[from] reqwest::Error),
    #[error("influx answered {0}")]
    Status(u16),
}

pub struct InfluxWriter {
    url: String,
    bucket: String,
    batch: Vec<String>,
    batch_size: usize,
    client: reqwest::Client,
}

impl InfluxWriter {
    pub fn new(url: &str, bucket: &str, batch_size: usize) -> Self {
        InfluxWriter {
            url: url.into(),
            bucket: bucket.into(),
            batch: Vec::new(),
            batch_size,
            client: reqwest::Client::new(),
        }
    }

    pub async fn push(&mut self, r: Reading) -> Result<(), WriteError> {
        self.batch.push(to_line(&r));
        if self.batch.len() >= self.batch_size {
            self.flush().await?;
        }
        Ok(())
    }

    pub async fn flush(&mut self) -> Result<(), WriteError> {
        let body = self.batch.join("\n");
        let res = self.client.post(format!("{}/api/v2/write?bucket={}", self.url, self.bucket)).body(body).send().await?;
        if !res.status().is_success() {
            return Err(WriteError::Status(res.status().as_u16()));
        }
        self.batch.clear();
        Ok(())
    }
}
