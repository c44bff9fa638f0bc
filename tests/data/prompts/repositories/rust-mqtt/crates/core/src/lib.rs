pub mod crc;
pub mod decode;
pub mod reading;
pub mod ring;

pub use decode::{decode, DecodeError};
pub use reading::{Kind, Reading};
