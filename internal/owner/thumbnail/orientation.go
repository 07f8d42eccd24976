package thumbnail

import (
	"bytes"
	"encoding/binary"
	"image"
)

// facing is how a camera was held, as EXIF counts it.
type facing int

const (
	upright facing = 1
	last    facing = 8
)

// orientation returns the orientation that a JPEG declares; upright if it declares no valid one.
func orientation(body []byte) facing {
	const start, scan, app1 = 0xd8, 0xda, 0xe1
	if len(body) < 4 || body[0] != 0xff || body[1] != start {
		return upright
	}
	for rest := body[2:]; len(rest) >= 4 && rest[0] == 0xff && rest[1] != scan; {
		size := int(binary.BigEndian.Uint16(rest[2:])) + 2
		if size < 4 || size > len(rest) {
			break
		}
		if exif, found := bytes.CutPrefix(rest[4:size], []byte("Exif\x00\x00")); found && rest[1] == app1 {
			return facingIn(exif)
		}
		rest = rest[size:]
	}
	return upright
}

// facingIn looks through the first directory of a TIFF.
func facingIn(tiff []byte) facing {
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return upright
	}
	const tag, short, size = 0x0112, 3, 12
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < size {
			break
		}
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short {
			if f := facing(order.Uint16(entries[8:])); f >= upright && f <= last {
				return f
			}
			break
		}
		entries = entries[size:]
	}
	return upright
}

// turned is the picture as it was seen.
func turned(from *image.RGBA, f facing) *image.RGBA {
	if f == upright {
		return from
	}
	w, h := from.Bounds().Dx(), from.Bounds().Dy()
	size := image.Pt(w, h)
	if f >= 5 { // the sides change places
		size = image.Pt(h, w)
	}
	to := image.NewRGBA(image.Rectangle{Max: size})
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch f {
			case 2:
				tx = w - 1 - x
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				ty = h - 1 - y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			to.SetRGBA(tx, ty, from.RGBAAt(x, y))
		}
	}
	return to
}
