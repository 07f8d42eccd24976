package thumbnail

import "image"

// reduced is a photo of which every k by k points are one. Scaling takes several times as long as
// reading a photo otherwise.
func reduced(from *image.YCbCr, k int) *image.YCbCr {
	size := from.Rect.Size().Div(k)
	to := image.NewYCbCr(image.Rectangle{Max: size}, from.SubsampleRatio)
	at := from.YOffset(from.Rect.Min.X, from.Rect.Min.Y)
	average(to.Y, to.YStride, from.Y[at:], from.YStride, k)
	at = from.COffset(from.Rect.Min.X, from.Rect.Min.Y)
	average(to.Cb, to.CStride, from.Cb[at:], from.CStride, k)
	average(to.Cr, to.CStride, from.Cr[at:], from.CStride, k)
	return to
}

// average fills a plane from one that is k times as wide and as high, or nearly so.
func average(to []uint8, toStride int, from []uint8, fromStride, k int) {
	for y := range len(to) / toStride {
		for x := range toStride {
			sum, n := 0, 0
			for dy := range k {
				start := (y*k+dy)*fromStride + x*k
				end := min(start+k, (y*k+dy+1)*fromStride, len(from))
				if start >= end {
					continue
				}
				for _, v := range from[start:end] {
					sum += int(v)
				}
				n += end - start
			}
			if n > 0 {
				to[y*toStride+x] = uint8(sum / n)
			}
		}
	}
}
