//go:build !linux

package foreign

import "os"

// tapOutput is the reading end of a tap's standard output.
type tapOutput struct{ *os.File }

func newOutput(f *os.File) (*tapOutput, error) { return &tapOutput{f}, nil }

// consumed returns how many bytes were read; it is not used where written is not known.
func (*tapOutput) consumed() int64 { return 0 }

// written returns how many bytes the tap has written, or a negative number if unknown.
func (*tapOutput) written() int64 { return -1 }
