//go:build !linux

package foreign

import "os"

// output is the reading end of a tap's standard output.
type output struct{ *os.File }

func newOutput(f *os.File) (*output, error) { return &output{f}, nil }

// consumed returns how many bytes were read; it is not used where written is not known.
func (*output) consumed() int64 { return 0 }

// written returns how many bytes the tap has written; negative when that cannot be known.
func (*output) written() int64 { return -1 }
