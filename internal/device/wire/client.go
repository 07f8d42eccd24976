package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	defaultTimeout = 60 * time.Second
	longestAnswer  = 1 << 20
)

// Client speaks for one device. Whatever prints it prints no token. Every
// method returns an *Error when it fails.
type Client struct {
	BaseURL  string // with a path of its own or without; never with a user or a query
	DeviceID string
	Token    string `json:"-"`
	// HTTP carries the requests; nil is http.DefaultClient. A client without a
	// timeout gets one of 60 seconds. Redirects are not followed: the token is
	// for the named server alone.
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

// Heartbeat reports how a source is doing.
func (c *Client) Heartbeat(ctx context.Context, hb Heartbeat) error {
	return c.call(ctx, http.MethodPost, hb, nil, "heartbeat")
}

// Ingest uploads a batch. An empty device id or body hash is filled in.
func (c *Client) Ingest(ctx context.Context, b Batch) (BatchAnswer, error) {
	if b.DeviceID == "" {
		b.DeviceID = c.DeviceID
	}
	if b.BodyHash == "" {
		hash, err := BodyHash(b.Records)
		if err != nil {
			return BatchAnswer{}, unsendable("the records are not valid JSON")
		}
		b.BodyHash = hash
	}
	var answer BatchAnswer
	err := c.call(ctx, http.MethodPost, b, &answer, "ingest-batches")
	return answer, err
}

type stateBody struct {
	State map[string]jsontext.Value `json:"state"`
}

// State gives the cursors of a source, by stream; none is an empty map.
func (c *Client) State(ctx context.Context, sourceInstanceID string) (map[string]jsontext.Value, error) {
	var answer stateBody
	if err := c.call(ctx, http.MethodGet, nil, &answer, "source-instances", sourceInstanceID, "state"); err != nil {
		return nil, err
	}
	if answer.State == nil {
		answer.State = map[string]jsontext.Value{}
	}
	return answer.State, nil
}

// PutState stores cursors of a source, by stream.
func (c *Client) PutState(ctx context.Context, sourceInstanceID string, state map[string]jsontext.Value) error {
	return c.call(ctx, http.MethodPut, stateBody{state}, nil, "source-instances", sourceInstanceID, "state")
}

// ReportGap says what was not collected for a source.
func (c *Client) ReportGap(ctx context.Context, sourceInstanceID string, g Gap) error {
	body := struct {
		SourceInstanceID string `json:"source_instance_id"`
		Gap              `json:",inline"`
	}{sourceInstanceID, g}
	return c.call(ctx, http.MethodPost, body, nil, "local-collector-gaps")
}

// call sends one request and decodes its answer. The error is an *Error or nil.
func (c *Client) call(ctx context.Context, method string, body, answer any, path ...string) error {
	req, fault := c.request(ctx, method, body, path)
	if fault != nil {
		return fault
	}
	client := c.transport()
	if client.Timeout <= 0 {
		client.Timeout = defaultTimeout
	}
	resp, err := client.Do(req)
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
	case answer == nil:
		return nil
	case len(got) > longestAnswer:
		return unreadable(resp.StatusCode, "the server's answer is too long")
	}
	if err := json.Unmarshal(got, answer); err != nil {
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

func (c *Client) request(ctx context.Context, method string, body any, path []string) (*http.Request, *Error) {
	address, err := c.address(path)
	if err != nil {
		return nil, unsendable(err.Error())
	}
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, unsendable("the message is not valid JSON")
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, unsendable("the server's address is not usable")
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set(ProtocolHeader, ProtocolVersion)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// address joins the base URL and the device's path; a part is one segment, whatever is in it.
func (c *Client) address(path []string) (string, error) {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the server's address is no http or https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("the server's address carries more than host and path")
	}
	segments := []string{"_ref", "device-exporters", url.PathEscape(c.DeviceID)}
	for _, p := range path {
		segments = append(segments, url.PathEscape(p))
	}
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return "", errors.New("an id is empty or no name")
		}
	}
	return u.JoinPath(segments...).String(), nil
}

func unsendable(why string) *Error { return &Error{Code: CodeInvalidRequest, Message: why} }

// unreadable is a success that cannot be read. Sending it again is safe, and the
// server answers a repetition as it did the first time.
func unreadable(status int, why string) *Error {
	return &Error{Code: CodeInvalidResponse, Status: status, Message: why, Retryable: true}
}
