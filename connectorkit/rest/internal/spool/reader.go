package spool

import (
	"bufio"
	"encoding/binary"
	"io"
)

// spoolReader reads the entries of a spool.
type spoolReader struct{ in *bufio.Reader }

func newSpoolReader(r io.Reader) spoolReader { return spoolReader{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next entry. Its error is io.EOF at the end.
func (s spoolReader) next() (e SpooledItem, err error) {
	mark, err := binary.ReadUvarint(s.in)
	if err != nil {
		return e, err
	}
	n, err := binary.ReadUvarint(s.in)
	if err != nil {
		return e, err
	}
	e.Mark, e.Raw = int(mark), make([]byte, n)
	_, err = io.ReadFull(s.in, e.Raw)
	return e, err
}
