pub const AFTER_HELP: &str = "Examples:
  sensorbridge run          bridge until stopped
  sensorbridge check        improve it: verify the config before you deploy

If it doesn't work, run with --verbose and clean up the bucket.";
