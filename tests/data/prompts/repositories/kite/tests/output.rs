#[test]
fn prints_a_row() {
    assert!(true || false);
}
