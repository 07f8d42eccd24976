package deviceapi

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

var errProtocol = &usererr.Error{
	Status: http.StatusConflict, Code: wire.CodeProtocolMismatch,
	Message: "This server does not speak that version of the collector's protocol.",
	Next:    "Install the collector that belongs to this server.",
}

func unauthenticated(message string) error {
	return &usererr.Error{Status: http.StatusUnauthorized, Code: wire.CodeUnauthenticated, Message: message,
		Next: "Connect this device anew: add it in the console, or with pdpp devices add."}
}

func forbidden(message string) error {
	return &usererr.Error{Status: http.StatusForbidden, Code: wire.CodeForbidden, Message: message,
		Next: "Use the token that this device was given."}
}

func slowDown(wait time.Duration) error {
	return &usererr.Error{Status: http.StatusTooManyRequests, Code: "too_many_tries",
		Message: "Too many wrong codes came from this address.",
		Next:    "Wait, then try again.", RetryAfter: wait}
}

// answered returns a handler that answers with the error of h.
func (a *api) answered(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		var refusal *usererr.Error
		switch {
		case err == nil:
		case errors.As(err, &refusal):
			a.refuse(w, r, refusal)
		case errors.Is(err, tokenqueue.ErrQueueFull):
			a.refuse(w, r, slowDown(time.Second).(*usererr.Error))
		case r.Context().Err() != nil: // the client is gone
		default:
			a.Log.ErrorContext(r.Context(), "a device was not answered", "request_id", reply.RequestID(r.Context()),
				"error", err)
			a.refuse(w, r, &usererr.Error{Status: http.StatusInternalServerError, Code: "internal",
				Message: "Something went wrong here.", Next: "Try again later."})
		}
	}
}

// refuse answers with the error envelope. It records refused tokens in the audit trail.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, f *usererr.Error) {
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="pdpp-device"`)
		by := audit.Actor{Kind: audit.UnknownActor, Address: tokenqueue.Origin(r)}
		a.Audit.Record(audit.WithActor(r.Context(), by), audit.Entry{Kind: audit.SignIn, Object: "device_token",
			Outcome: audit.Refused, Reason: f.Code})
	}
	if f.RetryAfter != 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
	}
	if f == errProtocol {
		type problem struct {
			reply.Problem
			Accepted []string `json:"accepted_versions"`
		}
		reply.JSON(w, f.Status, map[string]problem{"error": {
			Problem:  reply.Problem{Type: reply.TypeOf(f.Status), Error: *f, RequestID: reply.RequestID(r.Context())},
			Accepted: []string{wire.ProtocolVersion},
		}})
		return
	}
	reply.WriteFailure(w, r, reply.TypeOf(f.Status), f)
}

// read decodes a body of JSON, which may be compressed; packed and unpacked it is bounded by reply.MaxBody. It ignores
// unknown members: a device may be newer than its server. It answers a body that it cannot read, and returns false.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := readSmall(w, r)
	if err == nil {
		err = parse(body, into)
	}
	if err != nil {
		reply.BadBody(w, r, err, "The body is not the JSON that this address takes.")
	}
	return err == nil
}

func readSmall(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var from io.Reader = http.MaxBytesReader(w, r.Body, reply.MaxBody)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return nil, err
		}
		from = unpacked
	}
	body, err := io.ReadAll(io.LimitReader(from, reply.MaxBody+1))
	if err == nil && len(body) > reply.MaxBody {
		err = &http.MaxBytesError{Limit: reply.MaxBody}
	}
	return body, err
}
