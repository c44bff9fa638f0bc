const POLY: u8 = 0x07;

pub fn crc8(data: &[u8]) -> u8 {
    let mut crc = 0u8;
    for b in data {
        crc ^= b;
        for _ in 0..8 {
            crc = if crc & 0x80 != 0 { (crc << 1) ^ POLY } else { crc << 1 };
        }
    }
    crc
}
