package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

const (
	// MostWebhooks bounds how many webhooks there are: each is looked at all the time.
	MostWebhooks = 100
	// mostOfGrant bounds how many of them one grant may add.
	mostOfGrant = 5
	// UsualBatch is how many changes a delivery holds at most.
	UsualBatch = 100
)

// Subscriptions are webhooks that apps add for themselves. All members must be set, except to list the routes.
type Subscriptions struct {
	Store store.Webhooks
	Read  *readapi.API
	Key   credential.Key
	Audit *audit.Trail
	Now   func() time.Time
}

type (
	newSubscription struct {
		Address      string   `json:"address"`                 // a public one with https
		Streams      []string `json:"streams,omitempty"`       // by default all that the grant allows
		ConnectionID string   `json:"connection_id,omitempty"` // only of this connection
	}
	subscription struct {
		Object      string    `json:"object" enum:"event_subscription"`
		ID          string    `json:"id"`
		Host        string    `json:"host"` // of the address
		Streams     []string  `json:"streams"`
		Status      string    `json:"status" enum:"active,failing,paused"`
		PauseReason string    `json:"pause_reason,omitempty" enum:"owner,refused,gone,grant"`
		CreatedAt   time.Time `json:"created_at"`
		// Secret signs the deliveries. Only the answer to the request that made the subscription has it.
		Secret string `json:"secret,omitempty"`
	}
	subscriptionList struct {
		Object string         `json:"object" enum:"list"`
		Data   []subscription `json:"data"`
	}
)

// Routes returns the addresses. An app sees and removes its own subscriptions only.
func (s *Subscriptions) Routes() []reply.Route {
	const path = "/v1/event-subscriptions"
	operation := func(name, summary string, answers []reply.Answer) reply.Operation {
		return reply.Operation{Name: name, Tag: "read", Access: reply.AccessGrant, Summary: summary, Answers: answers}
	}
	add := operation("addEventSubscription", "Deliver the changes that a grant allows to read, from now on",
		reply.Returns[subscription](http.StatusOK))
	add.Body = reflect.TypeFor[newSubscription]()
	return []reply.Route{
		{Pattern: "POST " + path, Handle: s.Read.Authorized(s.add), Operation: add},
		{Pattern: "GET " + path, Handle: s.Read.Authorized(s.list), Operation: operation("listEventSubscriptions",
			"The subscriptions of a grant", reply.Returns[subscriptionList](http.StatusOK))},
		{Pattern: "DELETE " + path + "/{id}", Handle: s.Read.Authorized(s.remove), Operation: operation(
			"removeEventSubscription", "Remove a subscription of a grant", reply.Returns[subscription](http.StatusOK))},
	}
}

// of returns the webhooks of a grant, and how many there are in all.
func (s *Subscriptions) of(ctx context.Context, who grants.Access) (own []store.Webhook, all int, err error) {
	if who.Grant() == nil {
		return nil, 0, grants.Refused(grants.CodeInsufficientScope, "", "Subscriptions belong to grants.",
			"Use the owner's webhooks instead.")
	}
	own, err = s.Store.Webhooks(ctx)
	all = len(own)
	return slices.DeleteFunc(own, func(w store.Webhook) bool { return w.GrantID != who.ID() }), all, err
}

func (s *Subscriptions) list(r *http.Request, who grants.Access) (any, error) {
	own, _, err := s.of(r.Context(), who)
	out := subscriptionList{Object: "list", Data: []subscription{}}
	for i := range own {
		out.Data = append(out.Data, shown(&own[i]))
	}
	return out, err
}

func shown(w *store.Webhook) subscription {
	out := subscription{Object: "event_subscription", ID: w.ID, Streams: append([]string{}, w.Streams...),
		Status: w.Status(), PauseReason: w.PauseReason, CreatedAt: w.CreatedAt}
	if u, err := url.Parse(w.Address); err == nil {
		out.Host = u.Host
	}
	return out
}

func (s *Subscriptions) remove(r *http.Request, who grants.Access) (any, error) {
	own, _, err := s.of(r.Context(), who)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(own, func(w store.Webhook) bool { return w.ID == r.PathValue("id") })
	if i < 0 {
		return nil, grants.Refused(grants.CodeNotFound, "", "There is no such subscription.", "List the subscriptions.")
	}
	if err := s.Store.DeleteWebhook(r.Context(), own[i].ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	s.note(r.Context(), &own[i])
	return shown(&own[i]), nil
}

func (s *Subscriptions) add(r *http.Request, who grants.Access) (any, error) {
	own, all, err := s.of(r.Context(), who)
	if err != nil {
		return nil, err
	}
	var n newSubscription
	in := json.NewDecoder(http.MaxBytesReader(nil, r.Body, reply.MaxBody))
	in.DisallowUnknownFields()
	if err := in.Decode(&n); err != nil {
		return nil, grants.Refused(grants.CodeInvalidRequest, "", "The body is not a subscription.",
			"Send JSON with address, streams and connection_id.")
	}
	var unfit *usererr.Error
	if err := CheckAddress(n.Address, false); errors.As(err, &unfit) {
		return nil, grants.Refused(grants.CodeInvalidRequest, "address", unfit.Message, unfit.Next)
	} else if err != nil {
		return nil, err
	}
	switch {
	case len(own) >= mostOfGrant || all >= MostWebhooks:
		return nil, grants.Refused(grants.CodeInvalidRequest, "", "There are too many subscriptions.", "Remove one first.")
	case who.SingleUse():
		return nil, grants.Refused(grants.CodeInsufficientScope, "", "The grant allows to read each stream once.",
			"Ask for a continuous grant.")
	}
	names := n.Streams
	for _, granted := range who.Grant().Scope {
		if len(n.Streams) == 0 && (n.ConnectionID == "" || n.ConnectionID == granted.ConnectionID) {
			names = append(names, granted.Stream)
		}
	}
	slices.Sort(names)
	w := store.Webhook{ID: "wh_" + strings.ToLower(rand.Text()[:10]), Name: who.Grant().ClientName, GrantID: who.ID(),
		Address: n.Address, ConnectionID: n.ConnectionID, Streams: slices.Compact(names), Batch: UsualBatch,
		CreatedAt: s.Now()}
	if len(w.Streams) == 0 {
		return nil, grants.Refused(grants.CodeInsufficientScope, "connection_id", "The grant allows nothing there.",
			"Leave the connection out.")
	}
	for _, name := range w.Streams {
		end, err := s.Read.EndOf(r.Context(), who, readapi.Following{Stream: name, ConnectionID: n.ConnectionID})
		if err != nil {
			return nil, err
		}
		w.Feeds = append(w.Feeds, store.WebhookFeed{Stream: name, Cursor: end})
	}
	secret := NewSecret()
	w.Sealed = Seal(s.Key, w.ID, secret)
	if err := s.Store.AddWebhook(r.Context(), w); err != nil {
		return nil, fmt.Errorf("keep the subscription: %w", err)
	}
	s.note(r.Context(), &w)
	out := shown(&w)
	out.Secret = secret
	return out, nil
}

// note records what the app changed.
func (s *Subscriptions) note(ctx context.Context, w *store.Webhook) {
	s.Audit.Record(ctx, audit.Entry{Kind: audit.SettingChange, Object: w.ID, ObjectName: "webhook"})
}
