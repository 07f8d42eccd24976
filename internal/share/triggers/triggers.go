// Package triggers starts a run when another program calls an address of this server.
package triggers

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// Kinds of triggers: how a caller shows that it knows the secret.
const (
	Generic = "generic" // the secret is a bearer token, or the end of the address
	GitHub  = "github"  // the secret signs the body, in X-Hub-Signature-256
	Strava  = "strava"  // the secret is the end of the address, and confirms the subscription
)

// Path is where the addresses begin.
const Path = "/hooks/"

// mostCalls bounds how many calls are answered at the same time. Others are asked to come again.
const mostCalls = 8

// NewSecret returns a secret that fits into an address.
func NewSecret() string { return strings.ToLower(rand.Text()) }

// Seal encrypts the secret of a trigger.
func Seal(key credential.Key, triggerID, secret string) []byte {
	return key.Seal(secretPlace(triggerID), []byte(secret))
}

func secretPlace(triggerID string) string { return "trigger/" + triggerID }

// Store is what is read and written.
type Store interface {
	store.RunTriggers
	Connection(ctx context.Context, id string) (store.Connection, error)
	RequestRun(ctx context.Context, r store.RunRequest) (bool, error)
}

// Config is what calls are answered with. All members must be set, except to list the routes.
type Config struct {
	Store Store
	Key   credential.Key // opens secrets
	Asked func()         // is called after a run was requested
	Now   func() time.Time
	Log   *slog.Logger
}

type receiver struct {
	Config
	calls chan struct{}
}

type (
	triggerAnswer struct {
		Status string `json:"status" enum:"accepted,ignored"`
	}
	confirmedSubscription struct {
		Challenge string `json:"hub.challenge"`
	}
	subscriptionParameters struct {
		Mode      string `query:"hub.mode" required:"true"` // subscribe
		Challenge string `query:"hub.challenge" required:"true"`
		Token     string `query:"hub.verify_token" required:"true"` // the secret
	}
)

// Routes returns the addresses. A caller that does not know the secret learns nothing: not whether a trigger exists.
func Routes(c Config) []reply.Route {
	t := &receiver{c, make(chan struct{}, mostCalls)}
	const public = reply.AccessPublic
	return []reply.Route{
		{Pattern: "POST " + Path + "{id}", Handle: t.receive, Operation: reply.Operation{Name: "callTrigger",
			Tag: "process", Access: public, Summary: "Start a run, with the secret as bearer token or signing the body",
			BodyKind: "application/json", BodyOptional: true, Answers: reply.Returns[triggerAnswer](http.StatusAccepted)}},
		{Pattern: "POST " + Path + "{id}/{secret}", Handle: t.receive, Operation: reply.Operation{Name: "callTriggerAddress",
			Tag: "process", Access: public, Summary: "Start a run, with the secret in the address",
			BodyKind: "application/json", BodyOptional: true, Answers: reply.Returns[triggerAnswer](http.StatusAccepted)}},
		{Pattern: "GET " + Path + "{id}/{secret}", Handle: t.confirm, Operation: reply.Operation{Name: "confirmTrigger",
			Tag: "process", Access: public, Summary: "Confirm a subscription at Strava",
			Query: reflect.TypeFor[subscriptionParameters](), Answers: reply.Returns[confirmedSubscription](http.StatusOK)}},
	}
}

// receive starts a run for a caller that knows the secret.
func (t *receiver) receive(w http.ResponseWriter, r *http.Request) {
	select {
	case t.calls <- struct{}{}:
		defer func() { <-t.calls }()
	default:
		w.Header().Set("Retry-After", "1")
		reply.Error(w, r, http.StatusServiceUnavailable, reply.TypeAPI, "busy", "Too many calls at once. Call again.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, reply.MaxBody))
	if err != nil {
		reply.BadBody(w, r, err, "The body cannot be read.")
		return
	}
	trigger, secret, err := t.find(r)
	if err != nil {
		t.fail(w, r, err)
		return
	}
	if !knows(trigger.Kind, secret, r, body) {
		refuse(w, r)
		return
	}
	if trigger.Kind == GitHub && r.Header.Get("X-GitHub-Event") == "ping" { // asks whether the address works
		reply.JSON(w, http.StatusAccepted, triggerAnswer{"ignored"})
		return
	}
	status, err := t.request(r.Context(), trigger)
	if err != nil {
		t.fail(w, r, err)
		return
	}
	reply.JSON(w, http.StatusAccepted, triggerAnswer{status})
}

// request asks for a run. One that waits already serves this call as well, so many calls make few runs.
func (t *receiver) request(ctx context.Context, trigger store.RunTrigger) (status string, err error) {
	conn, err := t.Store.Connection(ctx, trigger.ConnectionID)
	if err != nil {
		return "", err
	}
	if conn.Status != store.ConnectionActive {
		return "ignored", nil // the owner paused or ended it
	}
	now := t.Now()
	if _, err := t.Store.RequestRun(ctx, store.RunRequest{ConnectionID: conn.ID, Trigger: store.TriggerWebhook,
		RequestedAt: now}); err != nil {
		return "", err
	}
	t.Asked()
	return "accepted", t.Store.CountTrigger(ctx, trigger.ID, now)
}

// confirm answers the question that Strava asks before it sends events.
func (t *receiver) confirm(w http.ResponseWriter, r *http.Request) {
	trigger, secret, err := t.find(r)
	if err != nil {
		t.fail(w, r, err)
		return
	}
	q := r.URL.Query()
	if !knows(trigger.Kind, secret, r, nil) || !equal(q.Get("hub.verify_token"), secret) || trigger.Kind != Strava ||
		q.Get("hub.mode") != "subscribe" || len(q.Get("hub.challenge")) > 200 {
		refuse(w, r)
		return
	}
	reply.JSON(w, http.StatusOK, confirmedSubscription{q.Get("hub.challenge")})
}

// find returns the trigger of the address with its secret. An unknown one has a secret that no caller knows.
func (t *receiver) find(r *http.Request) (found store.RunTrigger, secret string, err error) {
	all, err := t.Store.Triggers(r.Context())
	if err != nil {
		return found, "", err
	}
	found, secret = store.RunTrigger{Kind: Generic}, NewSecret()
	for _, one := range all {
		if !equal(one.ID, r.PathValue("id")) {
			continue
		}
		plain, err := t.Key.Open(secretPlace(one.ID), one.Sealed)
		if err != nil {
			return found, "", err
		}
		found, secret = one, string(plain)
	}
	return found, secret, nil
}

// knows reports whether the caller shows the secret in the way of the kind.
func knows(kind, secret string, r *http.Request, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret)) // computed for every kind, so that the time reveals none
	mac.Write(body)
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	signed, carried := equal(r.Header.Get("X-Hub-Signature-256"), signature), equal(r.PathValue("secret"), secret)
	switch kind {
	case GitHub:
		return signed
	case Strava:
		return carried
	}
	return carried || equal(bearer, secret)
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func refuse(w http.ResponseWriter, r *http.Request) {
	reply.Error(w, r, http.StatusNotFound, reply.TypeInvalidRequest, "not_found", "There is nothing here.")
}

func (t *receiver) fail(w http.ResponseWriter, r *http.Request, err error) {
	t.Log.ErrorContext(r.Context(), "a trigger cannot be answered", "request_id", reply.RequestID(r.Context()),
		"error", err)
	reply.Error(w, r, http.StatusInternalServerError, reply.TypeAPI, "internal_error",
		"Something went wrong here. The log has more under the request id.")
}
