package thumbnail

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // a kind of original
	"image/jpeg"
	_ "image/png" // likewise
	"io"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // likewise
)

// qualities are tried one after the other until the picture is small enough.
var qualities = []int{80, 60, 40, 20}

// Make reads a picture and writes a small one. It trusts nothing that it reads, and is to be
// called in a process that may end in the middle of it.
func Make(in io.Reader, out io.Writer) error {
	body, err := io.ReadAll(io.LimitReader(in, mostInput+1))
	if err != nil {
		return fmt.Errorf("read the picture: %w", err)
	}
	if len(body) > mostInput {
		return errors.New("the file is too large")
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("read the size of the picture: %w", err)
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > mostPixels/config.Height {
		return fmt.Errorf("a picture of %d by %d is too large", config.Width, config.Height)
	}
	whole, format, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("read the picture: %w", err)
	}
	turn := upright
	if format == "jpeg" {
		turn = orientation(body)
	}
	small, err := encode(turned(scaled(whole), turn))
	if err != nil {
		return err
	}
	_, err = out.Write(small)
	return err
}

// scaled is the picture within the bounds, on white where it can be seen through.
func scaled(from image.Image) *image.RGBA {
	size := from.Bounds().Size()
	if photo, is := from.(*image.YCbCr); is {
		if k := max(size.X, size.Y) / (2 * Side); k > 1 && min(size.X, size.Y) >= k {
			from = reduced(photo, k)
		}
	}
	if longest := max(size.X, size.Y); longest > Side {
		size = image.Pt(max(1, size.X*Side/longest), max(1, size.Y*Side/longest))
	}
	to := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(to, to.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.BiLinear.Scale(to, to.Bounds(), from, from.Bounds(), draw.Over, nil)
	return to
}

func encode(m image.Image) ([]byte, error) {
	var out bytes.Buffer
	for _, quality := range qualities {
		out.Reset()
		if err := jpeg.Encode(&out, m, &jpeg.Options{Quality: quality}); err != nil {
			return nil, fmt.Errorf("write the small picture: %w", err)
		}
		if out.Len() <= MostBytes {
			return out.Bytes(), nil
		}
	}
	return nil, errors.New("the small picture is too large")
}
