package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

const (
	// sendTime limits one delivery.
	sendTime = 10 * time.Second
	// maxResponse limits how much of a response is read. It is discarded.
	maxResponse = 4 << 10
	maxAddress  = 2000
)

// CheckAddress returns an error for an address that is never delivered to. Without local it must be one of https, and
// it is compared with the public addresses again when it is dialled.
func CheckAddress(address string, local bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || len(address) > maxAddress || u.Scheme != "https" && u.Scheme != "http":
		return usererr.New("webhook_invalid", "The address is not one of https.", "Give the whole address, with https://.")
	case u.User != nil || u.Fragment != "":
		return usererr.New("webhook_invalid", "The address has a password or a fragment in it.", "Leave it out.")
	case u.Scheme == "http" && !local:
		return usererr.New("webhook_invalid", "Changes would leave this server without encryption.",
			"Use https, or allow a local address if the receiver is in your own network.")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && publicaddress.CheckChosen(ip, u.Scheme, local) != nil {
		return usererr.New("webhook_invalid", "This address is not delivered to.",
			"Use a public address, or allow a local one if the receiver is in your own network.")
	}
	return nil
}

// transports are by scheme, and by whether the address may be local.
var transports = map[string]map[bool]*http.Transport{
	"http": {true: publicaddress.ChosenTransport("http", true, sendTime)},
	"https": {false: publicaddress.ChosenTransport("https", false, sendTime),
		true: publicaddress.ChosenTransport("https", true, sendTime)}}

// Attempt is how an address answered. Failure is a word, and empty for success.
type Attempt struct {
	Failure string
	gone    bool          // it wants no more deliveries
	refused bool          // it will not accept this one, whenever it is repeated
	wait    time.Duration // it asked to wait
	stopped bool          // this process is stopping
}

// post sends one delivery. The attempt keeps neither the address nor the response, which may hold secrets.
func post(ctx context.Context, to string, local bool, s secrets, id string, now time.Time, body []byte) Attempt {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil || transports[r.URL.Scheme][local] == nil {
		return Attempt{Failure: "invalid_address"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "pdpp-webhooks")
	r.Header.Set(HeaderID, id)
	r.Header.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(HeaderSignature, s.sign(id, now, body))
	answer, err := transports[r.URL.Scheme][local].RoundTrip(r) // follows no redirect
	if err != nil {
		return attemptOfError(err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxResponse) // so that the connection can be used again
	return attemptOfStatus(answer)
}

func attemptOfStatus(answer *http.Response) Attempt {
	code := answer.StatusCode
	if code >= 200 && code < 300 {
		return Attempt{}
	}
	o := Attempt{Failure: fmt.Sprintf("http_%d", code), gone: code == http.StatusGone}
	switch code {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		o.refused = true
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		o.wait = min(time.Duration(min(seconds, 1<<20))*time.Second, longestWait)
	}
	return o
}

func attemptOfError(err error) Attempt {
	var slow net.Error
	switch {
	case errors.Is(err, publicaddress.ErrNotPublic):
		return Attempt{Failure: "forbidden_address"}
	case errors.Is(err, context.Canceled):
		return Attempt{Failure: "stopped", stopped: true}
	case errors.As(err, &slow) && slow.Timeout():
		return Attempt{Failure: "timeout"}
	}
	return Attempt{Failure: "unreachable"}
}
