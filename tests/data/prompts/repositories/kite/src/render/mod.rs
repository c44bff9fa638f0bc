pub mod json;
pub mod table;
