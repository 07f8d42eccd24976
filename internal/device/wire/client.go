package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
)

const (
	// answerTime is how long an answer may take, beside the time that a slow line needs
	// for the request itself.
	answerTime    = 60 * time.Second
	slowestUplink = 8 << 10 // bytes a second
	longestAnswer = 1 << 20
	// compressFrom is the size from which compressing is worth its time.
	compressFrom = 1 << 10
)

// Client speaks for one device. Whatever prints it prints no token. Every
// method returns an *Error when it fails.
type Client struct {
	BaseURL  string // with a path of its own or without; never with a user or a query
	DeviceID string
	Token    string `json:"-"`
	// Compress enables compressed uploads. The server must support them.
	Compress bool
	// HTTP sends the requests; nil means http.DefaultClient. Redirects are not followed, because the token
	// must reach only the configured server.
	HTTP *http.Client `json:"-"`
}

// Format prints the device and its server, whatever the verb.
func (c Client) Format(f fmt.State, _ rune) {
	host := ""
	if u, err := url.Parse(c.BaseURL); err == nil {
		host = u.Host
	}
	fmt.Fprintf(f, "device %q of %q", c.DeviceID, host)
}

// Enroll redeems an enrolment code. The client needs no device id. If the client has a token, the
// source joins the device of that token.
func (c *Client) Enroll(ctx context.Context, e Enrollment) (Enrolled, error) {
	var answer Enrolled
	err := c.call(ctx, http.MethodPost, e, &answer, ObjectEnrollment, "enroll")
	return answer, err
}

// RotateToken asks for another token. The one it is asked with lives until the other is used.
func (c *Client) RotateToken(ctx context.Context) (NewToken, error) {
	var answer NewToken
	err := c.callDevice(ctx, http.MethodPost, struct{}{}, &answer, ObjectToken, "token")
	return answer, err
}

// SelfRevoke ends the device on the server.
func (c *Client) SelfRevoke(ctx context.Context) (Revocation, error) {
	var answer Revocation
	err := c.callDevice(ctx, http.MethodPost, struct{}{}, &answer, ObjectRevocation, "self-revoke")
	return answer, err
}

// Heartbeat reports how a source is doing.
func (c *Client) Heartbeat(ctx context.Context, hb Heartbeat) (HeartbeatAnswer, error) {
	var answer HeartbeatAnswer
	err := c.callDevice(ctx, http.MethodPost, hb, &answer, ObjectHeartbeat, "heartbeat")
	return answer, err
}

// Ingest uploads a batch. An empty device id is filled in, and the body hash is that of the records.
func (c *Client) Ingest(ctx context.Context, b Batch) (BatchResult, error) {
	packed, err := new(Packer).Pack(b.Records)
	if err != nil {
		return BatchResult{}, unsendable("the records are not valid JSON")
	}
	return c.IngestPacked(ctx, b, &packed)
}

// IngestPacked is Ingest with records that are packed already; those of the batch do not count.
func (c *Client) IngestPacked(ctx context.Context, b Batch, records *Packed) (BatchResult, error) {
	if b.DeviceID == "" {
		b.DeviceID = c.DeviceID
	}
	b.BodyHash = records.Hash
	envelope, err := json.Marshal(struct {
		Batch
		Records jsontext.Value `json:"records,omitzero"` // it goes before the rest
	}{Batch: b})
	if err != nil {
		return BatchResult{}, unsendable("the message is not valid JSON")
	}
	rest := append([]byte(","), envelope[1:]...)
	var body []byte
	if c.Compress { // what is compressed in parts is compressed
		body = slices.Concat(beginRecords, records.Gzip, gzipped(rest))
	} else {
		list, err := records.list()
		if err != nil {
			return BatchResult{}, err
		}
		body = slices.Concat([]byte(recordsMember), list, rest)
	}
	req, fault := c.request(ctx, http.MethodPost, body, c.Compress, []string{c.DeviceID, "ingest-batches"})
	if fault != nil {
		return BatchResult{}, fault
	}
	var answer BatchResult
	return answer, c.exchange(ctx, req, &answer, ObjectBatchResult)
}

const recordsMember = `{"records":`

var beginRecords = gzipped([]byte(recordsMember))

// State returns the cursors of a source, by stream, and the server's capabilities.
func (c *Client) State(ctx context.Context, sourceInstanceID string) (State, error) {
	var answer State
	if err := c.callDevice(ctx, http.MethodGet, nil, &answer, ObjectState, "source-instances", sourceInstanceID,
		"state"); err != nil {
		return State{}, err
	}
	if answer.State == nil {
		answer.State = map[string]jsontext.Value{}
	}
	return answer, nil
}

// PutState moves cursors of a source.
func (c *Client) PutState(ctx context.Context, sourceInstanceID string, u StateUpdate) error {
	return c.callDevice(ctx, http.MethodPut, u, nil, ObjectState, "source-instances", sourceInstanceID, "state")
}

// ReportGap reports data that was not collected.
func (c *Client) ReportGap(ctx context.Context, g Gap) error {
	return c.callDevice(ctx, http.MethodPost, g, nil, "", "source-instances", g.SourceInstanceID, "local-collector-gaps")
}

// RecoverGap reports that the data of a gap was collected later.
func (c *Client) RecoverGap(ctx context.Context, g GapRecovered) error {
	return c.callDevice(ctx, http.MethodPost, g, nil, "", "source-instances", g.SourceInstanceID, "local-collector-gaps",
		"recovered")
}

// CommitTerminal reports the end of a run. It rejects a receipt that does not match the commit.
func (c *Client) CommitTerminal(ctx context.Context, m TerminalCommit) (TerminalCommitted, error) {
	hash, err := EnvelopeHash(&m)
	if err != nil {
		return TerminalCommitted{}, unsendable("the commit is not valid JSON")
	}
	var answer TerminalCommitted
	err = c.callDevice(ctx, http.MethodPost, m, &answer, ObjectTerminalCommit, "source-instances", m.SourceInstanceID,
		"terminal-run-commits")
	if err == nil && (answer.CommitID != m.CommitID || answer.RunID != m.RunID || answer.EnvelopeHash != hash ||
		answer.TerminalEventID == "") {
		err = unreadable(http.StatusOK, "the receipt is that of another commit")
	}
	return answer, err
}

// LeaseGaps returns the gaps of a source that its device may try to fetch.
func (c *Client) LeaseGaps(ctx context.Context, sourceInstanceID string) ([]LeasedGap, error) {
	var answer LeasedGaps
	err := c.callDevice(ctx, http.MethodGet, nil, &answer, ObjectGapList, "source-instances", sourceInstanceID, "gaps")
	return answer.Data, err
}

// Blob returns how much of a file of a source the server has received.
func (c *Client) Blob(ctx context.Context, sourceInstanceID, sha256 string) (Blob, error) {
	var answer Blob
	err := c.callDevice(ctx, http.MethodGet, nil, &answer, ObjectBlob, "source-instances", sourceInstanceID, "blobs",
		sha256)
	return answer, err
}

// PutBlob sends the piece of a file that begins at offset.
func (c *Client) PutBlob(ctx context.Context, sourceInstanceID, sha256 string, total, offset int64, piece []byte) (Blob,
	error) {
	var answer Blob
	req, fault := c.request(ctx, http.MethodPut, nil, false,
		[]string{c.DeviceID, "source-instances", sourceInstanceID, "blobs", sha256})
	if fault != nil {
		return answer, fault
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(piece)), int64(len(piece))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(piece)), nil }
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set(OffsetHeader, strconv.FormatInt(offset, 10))
	req.Header.Set(LengthHeader, strconv.FormatInt(total, 10))
	return answer, c.exchange(ctx, req, &answer, ObjectBlob)
}

func (c *Client) callDevice(ctx context.Context, method string, body, answer any, object string, path ...string) error {
	return c.call(ctx, method, body, answer, object, append([]string{c.DeviceID}, path...)...)
}

// call sends one request and decodes the answer. The answer must name the expected object; an empty
// object accepts any. The error is an *Error or nil.
func (c *Client) call(ctx context.Context, method string, body, answer any, object string, path ...string) error {
	var encoded []byte
	compressed := false
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return unsendable("the message is not valid JSON")
		}
		if compressed = c.Compress && len(encoded) >= compressFrom; compressed {
			encoded = gzipped(encoded)
		}
	}
	req, fault := c.request(ctx, method, encoded, compressed, path)
	if fault != nil {
		return fault
	}
	return c.exchange(ctx, req, answer, object)
}

func (c *Client) exchange(ctx context.Context, req *http.Request, answer any, object string) error {
	within, cancel := context.WithTimeout(ctx, answerTime+time.Duration(req.ContentLength)*time.Second/slowestUplink)
	defer cancel()
	resp, err := c.transport().Do(req.WithContext(within))
	if err != nil {
		return transportError(ctx, err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer+1))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return answerError(resp, got, c.Token, time.Now()) // a part of the body is as good as none
	case err != nil:
		return transportError(ctx, err)
	case len(got) > longestAnswer:
		return unreadable(resp.StatusCode, "the answer is too long for one of the server")
	}
	var reported struct {
		Object string `json:"object"`
	}
	if json.Unmarshal(got, &reported) != nil || reported.Object == "" || object != "" && reported.Object != object {
		return unreadable(resp.StatusCode, "the answer is not one of the server")
	}
	if answer != nil && json.Unmarshal(got, answer) != nil {
		return unreadable(resp.StatusCode, "the server's answer is not understood")
	}
	return nil
}

// transport is a copy of the HTTP client that follows no redirect.
func (c *Client) transport() *http.Client {
	client := *http.DefaultClient
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// request makes one with a JSON body, or without any.
func (c *Client) request(ctx context.Context, method string, body []byte, compressed bool,
	path []string) (*http.Request, *Error) {
	address, err := c.address(path)
	if err != nil {
		return nil, unsendable(err.Error())
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, unsendable("the server's address is not usable")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	req.Header.Set(ProtocolHeader, ProtocolVersion)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if compressed {
		req.Header.Set("Content-Encoding", "gzip")
	}
	return req, nil
}

// gzipped compresses for a line that is slower than the machine.
func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is a known one
	_, _ = w.Write(b)                                 // into memory
	_ = w.Close()
	return out.Bytes()
}

// address joins the base URL and a path below Root; a part is one segment, whatever is in it.
func (c *Client) address(path []string) (string, error) {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the server's address is no http or https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("the server's address carries more than host and path")
	}
	segments := []string{Root}
	for _, p := range path {
		segments = append(segments, url.PathEscape(p))
	}
	for _, s := range segments[1:] {
		if s == "" || s == "." || s == ".." {
			return "", errors.New("an id is empty or no name")
		}
	}
	return u.JoinPath(segments...).String(), nil
}

func unsendable(why string) *Error { return &Error{Code: CodeInvalidRequest, Message: why} }

// unreadable returns the error for a successful status with an invalid body: another program answers
// at the server's address.
func unreadable(status int, why string) *Error {
	return &Error{Code: CodeInvalidResponse, Status: status, Message: why}
}
