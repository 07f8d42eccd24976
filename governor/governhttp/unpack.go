package governhttp

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

const (
	// maxUnpackRatio bounds how many bytes a packed body may have for each byte that was sent.
	maxUnpackRatio = 100
	// freeUnpacked is how many unpacked bytes have no bound: a short text of one letter packs well.
	freeUnpacked = 1 << 20
)

var errUnpackRatio = errors.New("the body unpacks to more than 100 times its size")

// unpacker asks for packed bodies and unpacks them, as http.Transport does, within maxUnpackRatio.
type unpacker struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (u unpacker) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Accept-Encoding") != "" || r.Header.Get("Range") != "" || r.Method == http.MethodHead {
		return u.Transport.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := u.Transport.RoundTrip(r)
	if err != nil || !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return resp, err
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	resp.Body = &unpackedBody{packed: resp.Body}
	return resp, nil
}

// unpackedBody is a body that is unpacked while it is read.
type unpackedBody struct {
	packed    io.ReadCloser
	unpacker  *gzip.Reader
	in, out   int64
	exhausted error
}

// Read implements io.Reader.
func (b *unpackedBody) Read(p []byte) (int, error) {
	if b.exhausted != nil {
		return 0, b.exhausted
	}
	if b.unpacker == nil {
		if b.unpacker, b.exhausted = gzip.NewReader(packedReader{b}); b.exhausted != nil {
			return 0, b.exhausted
		}
	}
	n, err := b.unpacker.Read(p)
	if b.out += int64(n); b.out > freeUnpacked && b.out > maxUnpackRatio*b.in {
		n, err = 0, &Error{Kind: TooLarge, err: errUnpackRatio}
	}
	b.exhausted = err
	return n, err
}

// Close implements io.Closer.
func (b *unpackedBody) Close() error { return b.packed.Close() }

// packedReader counts the bytes that were sent.
type packedReader struct{ *unpackedBody }

// Read implements io.Reader.
func (p packedReader) Read(b []byte) (int, error) {
	n, err := p.packed.Read(b)
	p.in += int64(n)
	return n, err
}
