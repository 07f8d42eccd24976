package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/service/devices"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/surface"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// workerPage is where a worker brings the page of a run.
const workerPage = "GET /_ref/surfaces/{run}/{question}/worker"

// ticketLife is how long a worker may take from its ticket to the server.
const ticketLife = 30 * time.Second

// showPages returns what receives the pages of this process's runs: its own hub if it has a console, and otherwise an
// uplink to the server that has one.
func (s *process) showPages(ctx context.Context) func(runID string, conn io.ReadWriteCloser) {
	if s.Role != Worker {
		return s.pages.Attach
	}
	s.uplink = surface.NewUplink(ctx, s.newPassage, s.Log)
	return s.uplink.Attach
}

// newPassage is a way for the page of a run into the server that has the console. Its secret
// rests as a digest beside the question; the server shows by the owner's key that it is theirs.
func (s *process) newPassage(ctx context.Context, runID string) (surface.Passage, error) {
	question, err := s.pageQuestion(ctx, runID)
	if errors.Is(err, interaction.ErrNotPending) {
		return surface.Passage{}, surface.ErrNotAsked
	}
	if err != nil {
		return surface.Passage{}, err
	}
	base := s.Base
	if base == "" {
		kept, err := s.Store.Setting(ctx, devices.AddressSetting)
		if err != nil {
			return surface.Passage{}, fmt.Errorf("read the server's address: %w", err)
		}
		base = string(kept)
	}
	secret, now := rand.Text(), s.Now()
	if err := s.Store.PutPageTicket(ctx, runID, question, ticketDigest(secret), now.Add(ticketLife), now); err != nil {
		return surface.Passage{}, err
	}
	return surface.Passage{
		Address: strings.TrimRight(base, "/") + "/_ref/surfaces/" + url.PathEscape(runID) + "/" + url.PathEscape(question) +
			"/worker",
		Ticket: secret, Proof: s.ticketProof(secret),
	}, nil
}

// ticketDigest is how a ticket rests.
func ticketDigest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// ticketProof is what only a process with the owner's key can make of a ticket.
func (s *process) ticketProof(secret string) string { return s.Key.For("page ticket " + secret) }

// receiveWorkerPage lets a worker in that shows its ticket. Whatever else is shown, of an owner, a
// client or a device, is no ticket.
func (s *process) receiveWorkerPage(ending <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		run, question := r.PathValue("run"), r.PathValue("question")
		scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		err := error(store.ErrNotFound)
		if strings.EqualFold(scheme, "Bearer") && secret != "" {
			err = s.Auth.Strangers().InTurn(r, func(ctx context.Context) error {
				return s.Store.TakePageTicket(ctx, run, question, ticketDigest(secret), s.Now())
			})
		}
		switch {
		case err == nil:
			s.pages.ServeWorker(w, r, run, s.ticketProof(secret), ending)
		case errors.Is(err, store.ErrNotFound):
			reply.WriteFailure(w, r, reply.TypeAuthentication, &usererr.Error{
				Status: http.StatusUnauthorized, Code: "page_ticket_refused",
				Message: "Only the worker of a run that asks something on its page may bring it, with a ticket that was not used.",
				Next:    "Nothing is to be done: the worker asks for another by itself.",
			})
		case errors.Is(err, tokenqueue.ErrQueueFull):
			reply.WriteFailure(w, r, reply.TypeRateLimit, &usererr.Error{
				Status: http.StatusTooManyRequests, Code: "too_many_requests",
				Message: "Too many requests of this address wait already.", Next: "Try again in a moment.",
			})
		default:
			s.Log.ErrorContext(r.Context(), "a worker's page was not taken", "request_id", w.Header().Get("Request-Id"), "error",
				err)
			reply.WriteFailure(w, r, reply.TypeAPI, &usererr.Error{
				Status: http.StatusServiceUnavailable, Code: "storage_unavailable",
				Message: "The database cannot be reached at the moment.", Next: "Try again in a moment.",
			})
		}
	}
}
