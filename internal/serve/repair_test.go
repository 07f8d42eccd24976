package serve

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The owner stores a credential that works, and nothing else: the same connection
// confirms itself with exactly one run, keeps its schedule, and is green.
func TestReauthConfirmsItself(t *testing.T) {
	t.Attr("spec", "CH-26.1")
	t.Attr("spec", "CH-29.2")
	inPlot(t, func(t *testing.T, p *plot) {
		p.credential("spade")
		p.schedule(5*time.Minute, true)
		time.Sleep(16 * time.Minute)
		if got := p.runs(); got != "scheduled failed" {
			t.Fatalf("with a refused credential it ran: %s", got)
		}
		c := p.verdict()
		if c.Verdict.Channel != "attention" || len(c.Verdict.RequiredActions) == 0 ||
			c.Verdict.RequiredActions[0].Kind != "reauth" {
			t.Fatalf("verdict %+v", c.Verdict)
		}
		if pushes := p.pushed(); len(pushes) != 1 || !strings.Contains(pushes[0], `"kind":"reauth"`) ||
			strings.Contains(pushes[0], "spade") {
			t.Fatalf("pushes %q", pushes)
		} else if o := c.Verdict.Outline; !strings.Contains(pushes[0], `"happened":"`+o.Happened+`","next":"`+o.Next+`"`) {
			t.Errorf("the push %q does not say %q and %q as the verdict does", pushes[0], o.Happened, o.Next)
		}
		p.credential("trowel")
		time.Sleep(soon)
		if got := p.runs(); got != "scheduled failed, retry succeeded" {
			t.Fatalf("after the repair it ran: %s", got)
		}
		c = p.verdict()
		if c.Verdict.Pill.Tone != "green" || c.Verdict.Channel != "calm" || c.ID != garden {
			t.Errorf("verdict %+v", c.Verdict)
		}
		if s := p.evidence().Schedule; s == nil || !s.Enabled || s.IntervalSeconds != 300 {
			t.Errorf("schedule %+v", s)
		}
		if all := p.records(); len(all) != 1 || all[0].Lifecycle != evidence.AttentionResolved {
			t.Errorf("records %+v", all)
		}
		if len(p.pushed()) != 1 {
			t.Errorf("pushes %q", p.pushed())
		}
	})
}

// A wrong credential, and then the right one: each is tried at once.
func TestCorrectedCredentialIsTriedAtOnce(t *testing.T) {
	t.Attr("spec", "CH-26.1")
	inPlot(t, func(t *testing.T, p *plot) {
		p.credential("spade")
		p.schedule(5*time.Minute, true)
		time.Sleep(time.Minute)
		for _, token := range []string{"rake", "hoe", "trowel"} {
			p.credential(token)
			time.Sleep(soon)
		}
		if got := p.runs(); got != "scheduled failed, retry failed, retry failed, retry succeeded" {
			t.Errorf("it ran: %s", got)
		}
		if c := p.verdict(); c.Verdict.Pill.Tone != "green" {
			t.Errorf("verdict %+v", c.Verdict)
		}
	})
}

// slow is a store in which a credential comes into sight a while after it was dated.
type slow struct{ store.Store }

func (s slow) PutCredential(ctx context.Context, c store.Credential) error {
	time.Sleep(soon)
	return s.Store.PutCredential(ctx, c)
}

// The owner's credential is on its way into the database when a look asks for one. It is tried
// all the same, by one run, and nothing is asked any more.
func TestCredentialIsTriedHoweverLateItIsSeen(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		o := service.New(service.Config{Store: slow{p.st},
			Connectors: catalog.Catalog{Dir: filepath.Join(p.home, "connectors")},
			Key:        func() (credential.Key, error) { return p.key, nil }, Now: time.Now})
		p.must(o.SetCredential(t.Context(), garden, map[string]string{"token": "trowel"}))
		stored, err := p.st.Credential(t.Context(), garden)
		p.must(err)
		asked := func() attention.AttentionRecord {
			all := p.records()
			return all[slices.IndexFunc(all, func(r attention.AttentionRecord) bool { return r.Kind == "reauth" })]
		}
		if r := asked(); !r.Open() || !r.OpenedAt.After(stored.CapturedAt) {
			t.Errorf("the credential of %s was asked for by %+v", stored.CapturedAt, r)
		}
		time.Sleep(soon)
		if got := p.runs(); got != "retry succeeded" {
			t.Errorf("it ran: %q", got)
		}
		if r := asked(); r.Lifecycle != evidence.AttentionResolved {
			t.Errorf("the record is %+v", r)
		}
	})
}

// A credential that is refused as well asks the same thing again, with the
// reason, and paints nothing green; it is not pushed again.
func TestIdenticalFailureAsksAgain(t *testing.T) {
	t.Attr("spec", "CH-26.2")
	inPlot(t, func(t *testing.T, p *plot) {
		p.credential("spade")
		p.schedule(5*time.Minute, true)
		time.Sleep(time.Minute)
		first := p.records()
		p.credential("rake")
		time.Sleep(10 * time.Minute)
		if got := p.runs(); got != "scheduled failed, retry failed" {
			t.Fatalf("it ran: %s", got)
		}
		c := p.verdict()
		if c.Health.State == "healthy" || c.Verdict.Pill.Tone == "green" || c.Verdict.RequiredActions[0].Kind != "reauth" {
			t.Errorf("verdict %+v", c.Verdict)
		}
		all := p.records()
		if len(first) != 1 || len(all) != 1 || all[0].ID != first[0].ID || all[0].Lifecycle != evidence.AttentionOpen ||
			all[0].Confirmations != 1 || all[0].Reason != "auth_failure" || all[0].Notice != attention.NoticeSent {
			t.Errorf("records %+v, before %+v", all, first)
		}
		if len(p.pushed()) != 1 {
			t.Errorf("pushes %q", p.pushed())
		}
		p.credential("trowel")
		time.Sleep(10 * time.Minute)
		if c := p.verdict(); c.Verdict.Pill.Tone != "green" {
			t.Errorf("fixed at last: %+v", c.Verdict)
		}
	})
}

// However often the owner changes their mind, confirming runs stay few.
func TestFlappingDoesNotStorm(t *testing.T) {
	t.Attr("spec", "CH-26")
	inPlot(t, func(t *testing.T, p *plot) {
		p.credential("spade")
		p.schedule(5*time.Minute, true)
		time.Sleep(time.Minute)
		for range 30 {
			p.credential("rake")
			time.Sleep(time.Minute)
		}
		if n := strings.Count(p.runs(), "retry"); n < 1 || n > 9 {
			t.Errorf("%d confirming runs for 30 changes in half an hour", n)
		}
		if len(p.pushed()) != 1 {
			t.Errorf("%d pushes", len(p.pushed()))
		}
	})
}

// An endpoint that does not answer holds up nothing but its own push.
func TestMuteEndpointHoldsUpNobody(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		p.mu.Lock()
		p.mute = true
		p.mu.Unlock()
		p.credential("spade")
		p.schedule(5*time.Minute, true)
		time.Sleep(4 * time.Second)
		if len(p.pushed()) != 1 {
			t.Fatalf("pushes %q", p.pushed())
		}
		p.credential("trowel")
		time.Sleep(3 * time.Second)
		if got := p.runs(); got != "scheduled failed, retry succeeded" {
			t.Errorf("while the endpoint keeps silent it ran: %s", got)
		}
	})
}
