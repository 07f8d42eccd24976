package readapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// pedometer is a connector that lets readers compare and sum up.
const pedometer = `{
 "protocol_version":"0.1.0","connector_id":"pedometer","version":"1.0.0","display_name":"Pedometer",
 "streams":[{"name":"walks","semantics":"mutable_state","primary_key":"id","consent_time_field":"walked_at",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"steps":{"type":["integer",` +
	`"null"]},"mood":{"type":"string"},
    "walked_at":{"type":"string","format":"date-time"},"day":{"type":"string","format":"date"},` +
	`"pulse":{"type":"integer"},"note":{"type":"string"}}},
   "query":{"filter":["mood","pulse"],"range_filters":{"steps":["gte","lt"],"walked_at":["gte","gt","lte","lt"],` +
	`"day":["lte"],"pulse":["gte","gt","lte","lt"],"mood":["gt"]},
    "aggregations":{"count":true,"sum":["steps","pulse"],"min":["steps","walked_at","day","pulse"],"max":["steps",` +
	`"mood","pulse"],"count_distinct":["mood","pulse"],
     "group_by":["mood","pulse"],"group_by_time":["walked_at"]}}}]}`

// walking fills two accounts with walks; the pulse must stay hidden.
func walking(t testing.TB, kept store.Store) *world {
	w := newWorldOver(t, kept)
	_, err := w.store.PutManifest(w.ctx(), "pedometer", []byte(pedometer), noon)
	check(t, err)
	for id, steps := range map[string][]string{"feet": {"900", "1000", "12000", "null"}, "paws": {"5"}} {
		check(t, w.store.CreateConnection(w.ctx(), store.Connection{
			ID: id, ConnectorID: "pedometer", DisplayName: id, Status: store.ConnectionActive, SourceKind: store.SourceAccount,
			ManifestGeneration: 1, CreatedAt: noon, UpdatedAt: noon,
		}))
		l, err := w.store.StartRun(w.ctx(), store.RunStart{
			RunID: "run_" + id, ConnectionID: id, ConnectorID: "pedometer", Trigger: store.TriggerManual, Holder: "test",
			TTL:     time.Hour,
			Streams: []store.StreamSpec{{Name: "walks", TimeField: "walked_at"}},
		}, noon)
		check(t, err)
		for i, n := range steps {
			at := time.Date(2026, time.Month(1+i/2), 10+i, 8, 0, 0, 0, time.UTC)
			w.put(l, slice.Record{Stream: "walks", Key: fmt.Sprintf("%s%d", id, i), EmittedAt: "2026-04-01T12:00:00Z",
				SemanticTime: at.Format("2006-01-02T15:04:05.000000Z"),
				Data: fmt.Appendf(nil, `{"id":"%s%d","steps":%s,"mood":%q,"walked_at":%q,"day":%q,"pulse":%d,"note":"n"}`,
					id, i, n, []string{"glad", "tired"}[i%2], at.In(time.FixedZone("", 7200)).Format(time.RFC3339),
					at.Format(time.DateOnly), 60+i)})
		}
	}
	return w
}

// sums shows the groups of an answer, by connection.
func (a answer) sums(t testing.TB) string {
	t.Helper()
	if a.status != http.StatusOK {
		return fmt.Sprint(a.status, " ", a.code())
	}
	var got struct {
		Data []struct {
			Connection string `json:"connection_id"`
			Groups     []struct {
				Key   *string
				Value json.RawMessage
			}
			Truncated bool
		}
	}
	check(t, json.Unmarshal([]byte(a.body), &got))
	var all []string
	for _, c := range got.Data {
		line := c.Connection
		for _, g := range c.Groups {
			key := ""
			if g.Key != nil {
				key = *g.Key + "="
			}
			line += " " + key + string(g.Value)
		}
		if c.Truncated {
			line += " ..."
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

//pdpp:tier unraced
func TestComparisonsAndAggregations(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := walking(t, open(t))
		owner := w.owner()
		mine := w.grant("", grants.Stream{ConnectionID: "feet", Stream: "walks"})
		for path, want := range map[string]string{
			"filter[steps][gte]=1000": "feet1 feet2", "filter[steps][gte]=1000.0&filter[steps][lt]=12e3": "feet1",
			"filter[steps][lt]=0":                                "",
			"filter[walked_at][gt]=2026-01-11T08:00:00Z":         "feet2 feet3",
			"filter[walked_at][lte]=2026-01-11T09:00:00%2B01:00": "feet0 feet1",
			"filter[walked_at][gte]=2026-02-01":                  "feet2 feet3", "filter[day][lte]=2026-01-10": "feet0",
			"filter[mood][gt]=glad":                     "feet1 feet3",
			"filter[mood]=glad&filter[steps][gte]=1000": "feet2", "filter[steps][gte]=1000&order=desc": "feet2 feet1",
		} {
			if got := w.ask(mine, "/v1/streams/walks/records?"+path).page(t).ids(); got != want {
				t.Errorf("%s gives %q, want %q", path, got, want)
			}
		}
		for path, want := range map[string]string{
			"":                                     "feet 4; paws 1",
			"connection_id=paws":                   "paws 1",
			"metric=sum&field=steps":               "feet 13900; paws 5",
			"metric=min&field=steps":               "feet 900; paws 5",
			"metric=max&field=mood":                `feet "tired"; paws "glad"`,
			"metric=min&field=walked_at":           `feet "2026-01-10T08:00:00Z"; paws "2026-01-10T08:00:00Z"`,
			"metric=min&field=day":                 `feet "2026-01-10"; paws "2026-01-10"`,
			"metric=count_distinct&field=mood":     "feet 2; paws 1",
			"group_by=mood":                        "feet glad=2 tired=2; paws glad=1",
			"group_by=mood&groups=1":               "feet glad=2 ...; paws glad=1",
			"group_by=walked_at&granularity=month": "feet 2026-02=2 2026-01=2; paws 2026-01=1",
			"group_by=walked_at&granularity=day&filter[steps][gte]=1000": "feet 2026-02-12=1 2026-01-11=1; paws",
			"metric=sum&field=steps&group_by=mood&filter[mood]=glad":     "feet glad=12900; paws glad=5",
			"metric=sum&field=steps&filter[mood]=sad":                    "feet null; paws null",
		} {
			if got := w.ask(owner, "/v1/streams/walks/aggregate?"+path).sums(t); got != want {
				t.Errorf("%s gives %q, want %q", path, got, want)
			}
		}
		for path, want := range map[string]string{
			"records?filter[steps][gt]=1": "invalid_request", "records?filter[note][gte]=a": "unknown_field",
			"records?filter[nothing][gte]=a":  "unknown_field",
			"records?filter[steps][gte]=many": "invalid_request", "records?filter[walked_at][gte]=yesterday": "invalid_request",
			"records?filter[steps][like]=1":                        "unknown_field",
			"records?filter[mood][gt]=" + strings.Repeat("a", 201): "invalid_request",
			"records?changes_since=beginning&filter[steps][gte]=1": "invalid_request",
			"aggregate?metric=median&field=steps":                  "invalid_request", "aggregate?metric=sum": "invalid_request",
			"aggregate?field=steps":          "invalid_request",
			"aggregate?metric=sum&field=day": "unknown_field", "aggregate?metric=sum&field=nothing": "unknown_field",
			"aggregate?group_by=note":                 "unknown_field",
			"aggregate?group_by=mood&granularity=day": "unknown_field", "aggregate?group_by=walked_at": "unknown_field",
			"aggregate?group_by=walked_at&granularity=hour": "invalid_request",
			"aggregate?granularity=day":                     "invalid_request", "aggregate?groups=0": "invalid_request",
			"aggregate?groups=1001": "invalid_request", "aggregate?limit=5": "invalid_request",
		} {
			if got := w.ask(mine, "/v1/streams/walks/"+path); got.code() != want {
				t.Errorf("%s answers %d %s, want %s", path, got.status, got.body, want)
			}
		}
		if got := w.ask(w.grant(store.GrantSingleUse, grants.Stream{ConnectionID: "feet", Stream: "walks"}),
			"/v1/streams/walks/aggregate").code(); got != "insufficient_scope" {
			t.Errorf("a single reading may sum up: %s", got)
		}
	})
}

// A grant aggregates only what it may read, and cannot compare or group by an ungranted field.
func TestAggregateTellsNothingOutsideTheGrant(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := walking(t, open(t))
		february := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
		for name, c := range map[string]struct {
			scope grants.Stream
			want  string
		}{
			"a time": {grants.Stream{ConnectionID: "feet", Stream: "walks", Since: &february}, "feet 2"},
			"keys":   {grants.Stream{ConnectionID: "feet", Stream: "walks", Resources: []string{"feet0"}}, "feet 1"},
			"fields": {grants.Stream{ConnectionID: "feet", Stream: "walks", Fields: []string{"id", "steps"}}, "feet 4"},
		} {
			token := w.grant("", c.scope)
			if got := w.ask(token, "/v1/streams/walks/aggregate").sums(t); got != c.want {
				t.Errorf("with %s counts %q, want %q", name, got, c.want)
			}
			if got := w.ask(token, "/v1/streams/walks/aggregate?connection_id=paws").code(); got != "insufficient_scope" {
				t.Errorf("with %s another connection answers %q", name, got)
			}
		}
		narrow := w.grant("", grants.Stream{ConnectionID: "feet", Stream: "walks", Fields: []string{"id", "steps"}})
		for _, path := range []string{
			"records?filter[pulse]=61", "records?filter[pulse][gte]=61", "records?filter[pulse][gte]=x",
			"records?filter[pulse][like]=6", "records?filter[steps][gte]=1&filter[pulse][lt]=99",
			"aggregate?filter[pulse][gte]=61", "aggregate?filter[pulse]=61", "aggregate?group_by=pulse",
			"aggregate?group_by=pulse&granularity=day", "aggregate?group_by=pulse&granularity=x",
			"aggregate?metric=sum&field=pulse", "aggregate?metric=min&field=pulse", "aggregate?metric=max&field=pulse",
			"aggregate?metric=count_distinct&field=pulse", "aggregate?metric=x&field=pulse",
			"aggregate?metric=sum&field=steps&group_by=pulse", "aggregate?metric=sum&field=steps&filter[mood][gt]=a",
			"aggregate?metric=sum&field=steps&group_by=walked_at&granularity=day",
			"records?filter[walked_at][gte]=2026-01-01", "aggregate?metric=count_distinct&field=note", "aggregate?group_by=note",
			"records?filter[note][gte]=a",
		} {
			got := w.ask(narrow, "/v1/streams/walks/"+path)
			if got.code() != "insufficient_scope" && !(strings.Contains(path, "[like]") && got.code() == "unknown_field") {
				t.Errorf("%s answers %d %s", path, got.status, got.body)
			}
		}
		shown := w.ask(narrow, "/v1/schema").body
		for _, hidden := range []string{"pulse", "mood", "walked_at"} {
			if strings.Contains(shown, hidden) {
				t.Errorf("the schema shows %s: %s", hidden, shown)
			}
		}
		want := `"range_filters":[{"field":"steps","operators":["gte","lt"]}],"aggregations":{"count":true,` +
			`"sum":["steps"],"min":["steps"],"max":["steps"]}`
		if !strings.Contains(shown, want) {
			t.Errorf("the schema is %s, want %s", shown, want)
		}
		// A cursor of one comparison is not good for another.
		page := w.ask(narrow, "/v1/streams/walks/records?limit=1&filter[steps][gte]=1").page(t)
		if got := w.ask(narrow, "/v1/streams/walks/records?limit=1&filter[steps][gte]=2&cursor="+
			url.QueryEscape(page.Next)).code(); got != "invalid_cursor" {
			t.Errorf("the cursor of another comparison answers %q", got)
		}
	})
}
