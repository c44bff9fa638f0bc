use crate::crc::crc8;
use crate::reading::{Kind, Reading};

#[derive(Debug, thiserror::Error, PartialEq)]
pub enum DecodeError {
    #[error("payload too short: {0} bytes")]
    TooShort(usize),
    #[error("unknown kind {0}")]
    UnknownKind(u8),
    #[error("crc mismatch")]
    Crc,
}

pub fn decode(sensor: &str, bytes: &[u8]) -> Result<Reading, DecodeError> {
    if bytes.len() < 4 {
        return Err(DecodeError::TooShort(bytes.len()));
    }
    if crc8(&bytes[..3]) != bytes[3] {
        return Err(DecodeError::Crc);
    }
    let kind = match bytes[0] {
        1 => Kind::Moisture,
        2 => Kind::Temperature,
        3 => Kind::Battery,
        k => return Err(DecodeError::UnknownKind(k)),
    };
    let raw = u16::from_be_bytes([bytes[1], bytes[2]]);
    Ok(Reading { sensor: sensor.to_string(), kind, value: raw as f32 / 10.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_payload_is_rejected() {
        assert_eq!(decode("a", &[1, 2]), Err(DecodeError::TooShort(2)));
    }
}
