package resize

import "testing"

func TestFitLandscape(t *testing.T) {
	w, h := fit(400, 200, 100)
	if w != 100 || h != 50 {
		t.Fatalf("got %dx%d", w, h)
	}
}

func BenchmarkThumb(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Thumb(sample, 256)
	}
}

var sample []byte
