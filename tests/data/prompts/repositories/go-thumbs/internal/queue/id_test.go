package queue

import "testing"

func TestNewIDLength(t *testing.T) {
	if n := len(newID()); n != 16 {
		t.Fatalf("got %d", n)
	}
}
