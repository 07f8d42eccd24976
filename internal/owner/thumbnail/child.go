package thumbnail

import (
	"errors"
	"io"
	"runtime/debug"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
)

// The bounds of a child.
const (
	childMemory = 512 << 20
	childCPU    = 30 * time.Second
	childTime   = 40 * time.Second
)

// Child makes a small picture in a process of its own, which it bounds first. A panic of a
// decoder is an error as any other.
func Child(in io.Reader, out io.Writer) (err error) {
	if err := confine.Bound(childMemory, childCPU); err != nil {
		return err
	}
	debug.SetMemoryLimit(childMemory * 3 / 4)
	defer func() {
		if recover() != nil {
			err = errors.New("the picture cannot be read")
		}
	}()
	return Make(in, out)
}
