package output

import (
	"io"
	"os"

	"golang.org/x/term"
)

// TerminalFile returns the file of a stream, and whether it is a terminal.
func TerminalFile(stream any) (*os.File, bool) {
	if p, ok := stream.(*PlainText); ok {
		stream = p.Writer
	}
	file, ok := stream.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth returns the number of columns of a terminal, and 200 for a file.
func TerminalWidth(w io.Writer) int {
	if file, ok := TerminalFile(w); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	}
	return 200
}
