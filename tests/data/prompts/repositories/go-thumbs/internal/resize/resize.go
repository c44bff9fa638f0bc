package resize

import (
	"bytes"
	"image"
	"image/jpeg"
)

const Quality = 82

func Thumb(src []byte, size int) ([]byte, error) {
	img, _, err := image.Decode(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	w, h := fit(img.Bounds().Dx(), img.Bounds().Dy(), size)
	dst := nearest(img, w, h)
	var out bytes.Buffer
	err = jpeg.Encode(&out, dst, &jpeg.Options{Quality: Quality})
	return out.Bytes(), err
}

func fit(w, h, size int) (int, int) {
	if w > h {
		return size, h * size / w
	}
	return w * size / h, size
}
