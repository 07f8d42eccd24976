package localarchive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// Signatures of the parts of a zip.
const (
	localSignature    = 0x04034b50
	centralSignature  = 0x02014b50
	endSignature      = 0x06054b50
	zip64EndSignature = 0x06064b50
	locatorSignature  = 0x07064b50
)

const (
	localHeaderBytes   = 30
	centralHeaderBytes = 46
	endRecordBytes     = 22
	maxNameBytes       = 4096
)

var littleEndian = binary.LittleEndian

// zipFile is a zip. Its directory is read in order and never held in memory, so that millions of
// members cost no memory.
type zipFile struct {
	h       io.ReaderAt
	size    int64
	base    int64 // length of the bytes before the archive
	from    int64 // where the directory begins
	to      int64 // and ends
	entries int64
	torn    bool // there is no directory: members are found by their own headers
}

// openZip finds the directory. A zip without one, which is what a download that broke off
// leaves, is read by the headers of its members.
func openZip(h io.ReaderAt, size int64) (*zipFile, error) {
	z := &zipFile{h: h, size: size}
	tail := make([]byte, min(size, endRecordBytes+math.MaxUint16))
	if _, err := h.ReadAt(tail, size-int64(len(tail))); err != nil {
		return nil, fmt.Errorf("read the end of the archive: %w", err)
	}
	for i := len(tail) - endRecordBytes; i >= 0; i-- {
		if littleEndian.Uint32(tail[i:]) != endSignature ||
			i+endRecordBytes+int(littleEndian.Uint16(tail[i+20:])) > len(tail) {
			continue
		}
		if z.locateDirectory(tail[i:], size-int64(len(tail))+int64(i)) {
			return z, nil
		}
	}
	z.torn = true
	return z, nil
}

// locateDirectory reads where the directory is; false when the numbers cannot be.
func (z *zipFile) locateDirectory(end []byte, at int64) bool {
	z.entries = int64(littleEndian.Uint16(end[10:]))
	length, offset := int64(littleEndian.Uint32(end[12:])), int64(littleEndian.Uint32(end[16:]))
	if z.entries == math.MaxUint16 || length == math.MaxUint32 || offset == math.MaxUint32 {
		var loc [20]byte
		var e [56]byte
		if n, err := z.h.ReadAt(loc[:], at-20); err == nil && n == 20 && littleEndian.Uint32(loc[:]) == locatorSignature {
			end64 := int64(littleEndian.Uint64(loc[8:]))
			if end64 < 0 || end64 > at-56 {
				return false
			}
			if _, err := z.h.ReadAt(e[:], end64); err != nil || littleEndian.Uint32(e[:]) != zip64EndSignature {
				return false
			}
			z.entries, length, offset, at = int64(littleEndian.Uint64(e[32:])), int64(littleEndian.Uint64(e[40:])),
				int64(littleEndian.Uint64(e[48:])), end64
		}
	}
	if length < 0 || offset < 0 || z.entries < 0 || length > at || offset > at-length ||
		z.entries > length/centralHeaderBytes {
		return false
	}
	z.from, z.to = offset, offset+length
	if z.entries == 0 {
		return length == 0
	}
	// Bytes may precede the archive, such as a program that unpacks it.
	for _, base := range []int64{0, at - length - offset} {
		var sig [4]byte
		if _, err := z.h.ReadAt(sig[:], base+offset); err == nil && littleEndian.Uint32(sig[:]) == centralSignature {
			z.base, z.from, z.to = base, base+offset, base+offset+length
			return true
		}
	}
	return false
}

// zipEntry is the content of a member's header.
type zipEntry struct {
	name      string
	flags     uint16
	method    uint16
	crc       uint32
	packed    int64
	size      int64
	at        int64 // of its local header
	link      bool
	folder    bool
	modified  time.Time
	checkless bool // sizes and checksum follow the content
	start     int64
}

// walkMembers calls each for every member in the order of the directory.
func (z *zipFile) walkMembers(ctx context.Context, each func(*Entry) error) error {
	if z.torn {
		return z.walkTruncated(ctx, each)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(z.h, z.from, z.to-z.from), 256<<10)
	var fixed [centralHeaderBytes]byte
	var rest []byte
	for n := range z.entries {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := io.ReadFull(in, fixed[:]); err != nil || littleEndian.Uint32(fixed[:]) != centralSignature {
			return damagedMember("the directory breaks off at member %d of %d", n, z.entries)
		}
		nameLen, extraLen, commentLen := int(littleEndian.Uint16(fixed[28:])), int(littleEndian.Uint16(fixed[30:])),
			int(littleEndian.Uint16(fixed[32:]))
		if need := nameLen + extraLen; cap(rest) < need {
			rest = make([]byte, need)
		}
		rest = rest[:nameLen+extraLen]
		if _, err := io.ReadFull(in, rest); err != nil {
			return damagedMember("the directory breaks off at member %d of %d", n, z.entries)
		}
		if _, err := in.Discard(commentLen); err != nil {
			return damagedMember("the directory breaks off at member %d of %d", n, z.entries)
		}
		e := zipEntry{
			flags: littleEndian.Uint16(fixed[8:]), method: littleEndian.Uint16(fixed[10:]),
			modified: decodeDOSTime(littleEndian.Uint16(fixed[14:]), littleEndian.Uint16(fixed[12:])),
			crc:      littleEndian.Uint32(fixed[16:]), packed: int64(littleEndian.Uint32(fixed[20:])),
			size: int64(littleEndian.Uint32(fixed[24:])),
			at:   int64(littleEndian.Uint32(fixed[42:])),
		}
		e.name = memberName(rest[:nameLen], e.flags)
		readZip64Sizes(rest[nameLen:], &e.size, &e.packed, &e.at)
		mode := littleEndian.Uint32(fixed[38:]) >> 16 & 0o170000
		unix := fixed[5] == 3 || fixed[5] == 19
		e.link = unix && mode != 0 && mode != 0o100000 && mode != 0o040000
		e.folder = strings.HasSuffix(e.name, "/") || unix && mode == 0o040000
		if e.size < 0 || e.packed < 0 || e.at < 0 || e.at > z.size {
			return damagedMember("member %d has impossible numbers", n)
		}
		if err := each(z.publicEntry(&e)); err != nil {
			return err
		}
	}
	return nil
}

// publicEntry returns a member in its exported form.
func (z *zipFile) publicEntry(e *zipEntry) *Entry {
	own := *e
	return &Entry{
		Name: e.name, Size: e.size, Modified: e.modified, folder: e.folder, unsafe: e.link, encrypted: e.flags&1 != 0,
		sum:  uint64(e.crc),
		open: func() (io.ReadCloser, error) { return z.openMember(&own) },
	}
}

// readZip64Sizes takes the sizes that do not fit into 32 bits from the extra field.
func readZip64Sizes(extra []byte, fields ...*int64) {
	for len(extra) >= 4 {
		tag, size := littleEndian.Uint16(extra), int(littleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if size > len(extra) {
			return
		}
		value := extra[:size]
		extra = extra[size:]
		if tag != 1 {
			continue
		}
		for _, f := range fields {
			if *f == math.MaxUint32 && len(value) >= 8 {
				*f = int64(littleEndian.Uint64(value))
				value = value[8:]
			}
		}
	}
}

// openMember returns the content of a member, verified against its checksum at its end.
func (z *zipFile) openMember(e *zipEntry) (io.ReadCloser, error) {
	start := e.start
	if start == 0 {
		var fixed [localHeaderBytes]byte
		if _, err := z.h.ReadAt(fixed[:], z.base+e.at); err != nil || littleEndian.Uint32(fixed[:]) != localSignature {
			return nil, fmt.Errorf("%w: its header is not there", ErrDamaged)
		}
		start = z.base + e.at + localHeaderBytes + int64(littleEndian.Uint16(fixed[26:])) +
			int64(littleEndian.Uint16(fixed[28:]))
	}
	packed := min(e.packed, max(0, z.size-start))
	raw := bufio.NewReaderSize(io.NewSectionReader(z.h, start, packed), int(min(256<<10, packed+16)))
	var in io.ReadCloser
	switch e.method {
	case 0:
		in = io.NopCloser(raw)
	case 8:
		in = flate.NewReader(raw)
	default:
		return nil, fmt.Errorf("%w: method %d is not known", ErrDamaged, e.method)
	}
	return &checkedContent{in: in, left: e.size, sum: crc32.NewIEEE(), want: e.crc, unknown: e.checkless}, nil
}

// checkedContent holds a member's content to its size and checksum.
type checkedContent struct {
	in      io.ReadCloser
	left    int64
	sum     hash.Hash32
	want    uint32
	unknown bool
}

func (c *checkedContent) Close() error { return c.in.Close() }

func (c *checkedContent) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	_, _ = c.sum.Write(b[:n]) // a hash never fails
	c.left -= int64(n)
	switch {
	case c.unknown && (err == nil || errors.Is(err, io.EOF)):
		return n, err
	case c.left < 0 && !c.unknown:
		return n, fmt.Errorf("%w: it is longer than the archive says", ErrDamaged)
	case errors.Is(err, io.EOF) && (c.left != 0 || c.sum.Sum32() != c.want):
		return n, fmt.Errorf("%w: size or checksum do not hold", ErrDamaged)
	case err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}

// walkTruncated calls each for the members before the place where the archive is cut off.
func (z *zipFile) walkTruncated(ctx context.Context, each func(*Entry) error) error {
	var fixed [localHeaderBytes]byte
	for at := int64(0); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := z.h.ReadAt(fixed[:], at); err != nil || littleEndian.Uint32(fixed[:]) != localSignature {
			return damagedMember("the archive has no directory; its members end at byte %d of %d", at, z.size)
		}
		e := zipEntry{
			flags: littleEndian.Uint16(fixed[6:]), method: littleEndian.Uint16(fixed[8:]),
			modified: decodeDOSTime(littleEndian.Uint16(fixed[12:]), littleEndian.Uint16(fixed[10:])),
			crc:      littleEndian.Uint32(fixed[14:]), packed: int64(littleEndian.Uint32(fixed[18:])),
			size: int64(littleEndian.Uint32(fixed[22:])), at: at,
		}
		rest := make([]byte, int(littleEndian.Uint16(fixed[26:]))+int(littleEndian.Uint16(fixed[28:])))
		if _, err := z.h.ReadAt(rest, at+localHeaderBytes); err != nil {
			return damagedMember("the archive breaks off within the name of a member")
		}
		nameLen := int(littleEndian.Uint16(fixed[26:]))
		e.name = memberName(rest[:nameLen], e.flags)
		readZip64Sizes(rest[nameLen:], &e.size, &e.packed)
		e.folder = strings.HasSuffix(e.name, "/")
		e.start = at + localHeaderBytes + int64(len(rest))
		if e.packed < 0 || e.size < 0 {
			return damagedMember("a member has impossible numbers")
		}
		if e.flags&8 != 0 && e.packed == 0 { // only its content shows where it ends
			packed, size, ok := z.measureContent(ctx, e.start, e.method)
			if e.packed, e.size, e.checkless = packed, size, true; !ok {
				e.packed, e.size = max(0, z.size-e.start), math.MaxInt64
			}
			if err := each(z.publicEntry(&e)); err != nil {
				return err
			}
			if !ok {
				return damagedMember("the archive breaks off within a member")
			}
			at = e.start + packed
			var d [4]byte
			if _, err := z.h.ReadAt(d[:], at); err == nil && littleEndian.Uint32(d[:]) == 0x08074b50 {
				at += 4
			}
			for _, length := range []int64{12, 20} {
				if _, err := z.h.ReadAt(d[:], at+length); err == nil &&
					(littleEndian.Uint32(d[:]) == localSignature || littleEndian.Uint32(d[:]) == centralSignature) {
					at += length
					break
				}
			}
			continue
		}
		if err := each(z.publicEntry(&e)); err != nil {
			return err
		}
		if at = e.start + e.packed; at > z.size {
			return damagedMember("the archive breaks off within a member")
		}
	}
}

// measureContent finds the end of content without a size in its header.
func (z *zipFile) measureContent(ctx context.Context, start int64, method uint16) (packed, size int64, ok bool) {
	if method != 8 {
		return 0, 0, false
	}
	in := &byteCounter{r: bufio.NewReaderSize(io.NewSectionReader(z.h, start, z.size-start), 256<<10)}
	content := flate.NewReader(in)
	size, err := io.Copy(io.Discard, contextReader{ctx, content})
	return in.n, size, err == nil
}

// byteCounter counts what a decoder takes, byte by byte, so that it takes nothing too much.
type byteCounter struct {
	r *bufio.Reader
	n int64
}

func (c *byteCounter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *byteCounter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// contextReader reads until the run is over.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (u contextReader) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(b)
}

// memberName reads a name: UTF-8 where it is, else the old code page of zips.
func memberName(raw []byte, flags uint16) string {
	raw = raw[:min(len(raw), maxNameBytes)]
	if flags&0x800 != 0 || utf8.Valid(raw) {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	var b strings.Builder
	for _, c := range raw {
		if c < 0x80 {
			b.WriteByte(c)
			continue
		}
		b.WriteRune(codePage437[c-0x80])
	}
	return b.String()
}

var codePage437 = []rune("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬" +
	"½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤" +
	"╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²" +
	"■\u00a0")

func decodeDOSTime(date, clock uint16) time.Time {
	return time.Date(int(date>>9)+1980, time.Month(date>>5&15), int(date&31), int(clock>>11), int(clock>>5&63),
		int(clock&31)*2, 0, time.UTC)
}

var zipSignatures = [][]byte{[]byte("PK\x03\x04"), []byte("PK\x05\x06"), []byte("PK\x07\x08")}

func hasZipHeader(head []byte) bool {
	for _, m := range zipSignatures {
		if bytes.HasPrefix(head, m) {
			return true
		}
	}
	return false
}
