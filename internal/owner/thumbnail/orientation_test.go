package thumbnail

import (
	"encoding/binary"
	"image"
	"slices"
	"testing"
)

// tagged returns the beginning of a JPEG with an orientation tag.
func tagged(order binary.AppendByteOrder, mark string, f uint16) []byte {
	tiff := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	tiff = order.AppendUint16(tiff, 2)
	tiff = append(tiff, make([]byte, 12)...) // another entry
	tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, 0x0112), 3), 1)
	tiff = append(order.AppendUint16(tiff, f), 0, 0)
	exif := append([]byte("Exif\x00\x00"), tiff...)
	body := append([]byte{0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xe1},
		binary.BigEndian.AppendUint16(nil, uint16(len(exif)+2))...)
	return append(body, exif...)
}

func TestOrientationIsRead(t *testing.T) {
	t.Parallel()
	for f := range uint16(11) {
		want := facing(f)
		if f < 1 || f > 8 {
			want = upright
		}
		for mark, order := range map[string]binary.AppendByteOrder{"II": binary.LittleEndian, "MM": binary.BigEndian} {
			if got := orientation(tagged(order, mark, f)); got != want {
				t.Errorf("%s %d: %d", mark, f, got)
			}
		}
	}
	if got := orientation(asJPEG(t, quarters(8, 8))); got != upright {
		t.Errorf("without a word: %d", got)
	}
}

// Whatever is read, the answer is one of eight.
func FuzzOrientation(f *testing.F) {
	f.Add(tagged(binary.LittleEndian, "II", 6))
	f.Add(tagged(binary.BigEndian, "MM", 3))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xe1, 0, 2})
	f.Fuzz(func(t *testing.T, body []byte) {
		if got := orientation(body); got < upright || got > last {
			t.Errorf("%d", got)
		}
	})
}

// Each way to hold a camera is undone: EXIF names by it which side of the picture its first row
// and column are.
func TestPicturesAreTurned(t *testing.T) {
	t.Parallel()
	// The corners of what is seen, by the corner of what was stored, left to right and down.
	seen := map[facing][4]int{1: {0, 1, 2, 3}, 2: {1, 0, 3, 2}, 3: {3, 2, 1, 0}, 4: {2, 3, 0, 1}, 5: {0, 2, 1, 3},
		6: {2, 0, 3, 1}, 7: {3, 1, 2, 0}, 8: {1, 3, 0, 2}}
	for f, want := range seen {
		m := turned(quarters(40, 20), f)
		size := image.Pt(40, 20)
		if f >= 5 {
			size = image.Pt(20, 40)
		}
		if m.Bounds().Size() != size {
			t.Errorf("%d: the size is %v", f, m.Bounds().Size())
			continue
		}
		for i, corner := range want {
			at := image.Pt((i%2)*(size.X-1), (i/2)*(size.Y-1))
			if got := slices.Index(corners, m.RGBAAt(at.X, at.Y)); got != corner {
				t.Errorf("%d: at corner %d is %d, want %d", f, i, got, corner)
			}
		}
	}
}

// A photo that is reduced has the colours of the one that it was.
func TestReduced(t *testing.T) {
	t.Parallel()
	for _, ratio := range []image.YCbCrSubsampleRatio{image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422,
		image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411,
		image.YCbCrSubsampleRatio410} {
		for _, k := range []int{2, 3, 7} {
			from := image.NewYCbCr(image.Rect(0, 0, 101, 67), ratio)
			for y := range 67 {
				for x := range 101 {
					half := uint8(x / 51 * 200)
					from.Y[from.YOffset(x, y)], from.Cb[from.COffset(x, y)], from.Cr[from.COffset(x, y)] = half, half, 255-half
				}
			}
			to := reduced(from, k)
			if to.Bounds().Size() != image.Pt(101/k, 67/k) {
				t.Errorf("%v by %d: %v", ratio, k, to.Bounds())
			}
			for _, y := range []int{0, to.Bounds().Dy() - 1} {
				left, right := to.YCbCrAt(0, y), to.YCbCrAt(to.Bounds().Dx()-1, y)
				if left.Y != 0 || left.Cb != 0 || left.Cr != 255 || right.Y != 200 || right.Cb != 200 || right.Cr != 55 {
					t.Errorf("%v by %d, line %d: %v to %v", ratio, k, y, left, right)
				}
			}
		}
	}
}
