package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// house is a homeserver in memory that returns few events at a time.
type house struct {
	r     *rand.Rand
	all   []*told // in the order in which they came
	most  int     // per answer
	since int     // moments before it are not known any more
}

// told is one event of the house.
type told struct {
	room, id, sender, text string
	edits                  string // the event that it replaces
	redacts                string
	redacted               bool
	at                     int
}

func (h *house) event(e *told) map[string]any {
	out := map[string]any{"event_id": e.id, "type": "m.room.message", "sender": e.sender, "origin_server_ts": 1 + e.at}
	content := map[string]any{"msgtype": "m.text", "body": e.text}
	switch {
	case e.redacts != "":
		out["type"], content = "m.room.redaction", map[string]any{"redacts": e.redacts}
	case e.redacted:
		content, out["unsigned"] = map[string]any{}, map[string]any{"redacted_because": map[string]any{}}
	case e.edits != "":
		content = map[string]any{"body": "* ", "m.new_content": map[string]any{"body": e.text},
			"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": e.edits}}
	}
	out["content"] = content
	return out
}

// happen sends, edits or redacts a message, sometimes as a person without the right to.
func (h *house) happen() {
	e := &told{room: fmt.Sprintf("!room%d", h.r.IntN(3)), id: fmt.Sprintf("$%d", len(h.all)),
		sender: []string{"@a", "@b"}[h.r.IntN(2)], text: strconv.Itoa(len(h.all)), at: len(h.all)}
	var own []*told
	for _, o := range h.all {
		if o.room == e.room && o.edits == "" && o.redacts == "" && !o.redacted {
			own = append(own, o)
		}
	}
	if len(own) > 0 && h.r.IntN(2) == 0 {
		if of := own[h.r.IntN(len(own))]; h.r.IntN(5) == 0 {
			e.redacts, of.redacted = of.id, true
		} else {
			e.edits = of.id
		}
	}
	h.all = append(h.all, e)
}

func (h *house) RoundTrip(req *http.Request) (*http.Response, error) {
	status, answer := http.StatusOK, map[string]any{}
	q := req.URL.Query()
	room, rest, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/_matrix/client/v3/rooms/"), "/")
	switch {
	case strings.HasSuffix(req.URL.Path, "/whoami"):
		answer["user_id"] = "@a"
	case strings.HasSuffix(req.URL.Path, "/sync"):
		since, _ := strconv.Atoi(strings.TrimPrefix(q.Get("since"), "s")) // none is zero
		if q.Get("since") != "" && since < h.since {
			status, answer = http.StatusBadRequest, map[string]any{"errcode": "M_UNKNOWN_POS"}
			break
		}
		rooms := map[string]any{}
		for n := range 3 {
			name := fmt.Sprintf("!room%d", n)
			chunk, before, limited := h.some(name, since, len(h.all))
			slices.Reverse(chunk)
			if len(chunk) > 0 {
				rooms[name] = map[string]any{"timeline": map[string]any{"events": chunk, "limited": limited, "prev_batch": before}}
			}
		}
		answer = map[string]any{"next_batch": fmt.Sprintf("s%d", len(h.all)), "rooms": map[string]any{"join": rooms}}
	case rest == "messages":
		from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("from"), "t")) // it is ours
		chunk, before, _ := h.some(room, 0, from)
		answer["chunk"] = chunk
		if len(chunk) > 0 {
			answer["end"] = before
		}
	default:
		id, _ := url.PathUnescape(strings.TrimPrefix(rest, "event/"))
		at := slices.IndexFunc(h.all, func(e *told) bool { return e.id == id })
		answer = h.event(h.all[at])
	}
	body, err := json.Marshal(answer)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}

// some are the newest events of a room between two moments, newest first, and where those before begin.
func (h *house) some(room string, after, before int) (chunk []map[string]any, from string, limited bool) {
	chunk = []map[string]any{}
	for i := before - 1; i >= after; i-- {
		if h.all[i].room != room {
			continue
		}
		if len(chunk) == h.most {
			return chunk, from, true
		}
		chunk, from = append(chunk, h.event(h.all[i])), fmt.Sprintf("t%d", i)
	}
	return chunk, from, false
}

// noting is a messageKind that stores the latest text of each message.
type noting struct {
	messageKind
	reports map[string]string
}

func (n noting) recordOf(ctx context.Context, room string, e roomEvent) (*connectorkit.Record, error) {
	var c messageContent
	text := e.Content
	if e.new != nil {
		text = e.new
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	n.reports[e.ID] = c.Body
	return n.messageKind.recordOf(ctx, room, e)
}

// TestTimelineSaysWhatWasSaidLast sends, edits and redacts messages during and between interrupted runs, at a server
// that returns few events at a time and forgets tokens. In the end the last record of every message matches its
// sender's version.
func TestTimelineSaysWhatWasSaidLast(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 5))
		h := &house{r: r, most: 1 + r.IntN(6)}
		client, err := governhttp.New(governhttp.Options{
			BaseURL: "http://home.example", Classify: classifyResponse, Transport: h,
			Sender: governhttp.NewSender(governor.New("test", func(c *governor.Config) { c.Discovery = 0 }),
				governhttp.SenderOptions{}),
		})
		if err != nil {
			t.Fatal(err)
		}
		reportedBy, at := map[string]string{}, connectorkit.Cursor(nil)
		for range r.IntN(40) {
			h.happen()
		}
		for run := range 8 {
			a := &matrixAccount{client: client}
			line := &roomTimeline{matrixAccount: a, kind: noting{messageKind{a}, reportedBy}}
			last := run == 7
			for pages := 0; ; pages++ {
				page, err := line.fetchNextPage(t.Context(), at)
				if classOf(err) == connectorkit.CursorRejected && at != nil {
					at = nil
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if page.More && fmt.Sprint(page.Next) == fmt.Sprint(at) {
					t.Fatalf("seed %d: the bookmark stays %v", seed, at)
				}
				if at = page.Next; !page.More || !last && r.IntN(6) == 0 {
					break
				}
				for range r.IntN(3) {
					if !last {
						h.happen()
					}
				}
			}
			if !last {
				for range r.IntN(15) {
					h.happen()
				}
			}
			if r.IntN(6) == 0 {
				h.since = len(h.all)
			}
		}
		for _, e := range h.all {
			if e.edits != "" || e.redacts != "" || e.redacted {
				continue
			}
			want := e.text
			for _, o := range h.all {
				if o.edits == e.id && o.sender == e.sender {
					want = o.text
				}
			}
			if reportedBy[e.id] != want {
				t.Fatalf("seed %d: %s contains %q, recorded is %q", seed, e.id, want, reportedBy[e.id])
			}
		}
	}
}
