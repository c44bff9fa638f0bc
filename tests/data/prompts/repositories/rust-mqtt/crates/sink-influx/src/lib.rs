mod line;
mod writer;

pub use line::to_line;
pub use writer::{InfluxWriter, WriteError};
