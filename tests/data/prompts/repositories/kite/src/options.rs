pub struct Options {
    pub root: String,
    pub max_depth: usize,
}

impl Options {
    pub fn parse() -> Self {
        Self { root: ".".into(), max_depth: 8 }
    }
}
