package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// Bounds of a metadata document.
const (
	documentTime = 5 * time.Second
	documentSize = 10 << 10
)

// PublicDocuments fetches metadata documents of apps from public addresses, over https and without redirects. Anyone
// can name an address, and it must not lead into the owner's network.
type PublicDocuments struct {
	// Transport is for tests. Nil dials public addresses only.
	Transport http.RoundTripper
}

var publicTransport = &http.Transport{
	DialContext: (&net.Dialer{Timeout: documentTime, ControlContext: publicaddress.DialControl}).DialContext,
	// A proxy would resolve the name after the check.
	Proxy: nil, ForceAttemptHTTP2: true, MaxIdleConns: 4, IdleConnTimeout: time.Minute,
	TLSHandshakeTimeout: documentTime, MaxResponseHeaderBytes: 16 << 10,
}

// Fetch implements grants.Documents.
func (d PublicDocuments) Fetch(ctx context.Context, address string) ([]byte, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || q.URL.Scheme != "https" {
		return nil, 0, errors.New("the address is not one of https")
	}
	q.Header.Set("Accept", "application/json")
	transport := d.Transport
	if transport == nil {
		transport = publicTransport
	}
	answer, err := transport.RoundTrip(q)
	if err != nil {
		return nil, 0, fmt.Errorf("fetch the document: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("the document is answered with %d", answer.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, documentSize+1))
	if err != nil {
		return nil, 0, fmt.Errorf("read the document: %w", err)
	}
	if len(body) > documentSize {
		return nil, 0, errors.New("the document is too large")
	}
	return body, grants.KeepFor(answer.Header), nil
}
