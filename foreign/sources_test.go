package foreign_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

// playSource is an Airbyte source with the named habit.
func playSource(habit string, args []string) int {
	s := &tapRun{out: bufio.NewWriter(os.Stdout), habit: habit, config: readJSON(argument("--config"))}
	switch args[0] {
	case "spec":
		s.say(`{"type":"SPEC","spec":{"connectionSpecification":{"type":"object","required":["credentials"],"properties":{` +
			`"credentials":{"type":"object","oneOf":[{"properties":{"auth":{"const":"token"},"token":{"type":"string",` +
			`"airbyte_secret":true,"title":"Token"}},"required":["token"]}]},` +
			`"pages":{"type":"integer","title":"Pages"}}}}}`)
	case "check":
		s.say(`{"type":"LOG","log":{"level":"INFO","message":"checking"}}`)
		s.say(`{"type":"CONNECTION_STATUS","connectionStatus":{"status":"SUCCEEDED"}}`)
	case "discover":
		s.say(`{"type":"CATALOG","catalog":{"streams":[`+
			`{"name":"pages","json_schema":%s,"supported_sync_modes":["full_refresh","incremental"],`+
			`"source_defined_cursor":true,"default_cursor_field":["updated_at"],"source_defined_primary_key":[["id"]]},`+
			`{"name":"log","namespace":"app","json_schema":%s,"supported_sync_modes":["full_refresh"]}]}}`,
			tapSchemas["pages"], tapSchemas["log"])
	case "read":
		var marks []map[string]any
		if body, err := os.ReadFile(argument("--state")); err == nil {
			if json.Unmarshal(body, &marks) != nil && json.Unmarshal(body, &s.state) != nil {
				return 1
			}
		}
		return sourceHabits[habit](s, marks)
	}
	return 0
}

func (t *tapRun) status(stream, namespace, status string) {
	t.say(
		`{"type":"TRACE","trace":{"type":"STREAM_STATUS","emitted_at":1,"stream_status":{"stream_descriptor":{"name":%q,`+
			`"namespace":%q},"status":%q}}}`,
		stream,
		namespace,
		status,
	)
}

func (t *tapRun) row(stream, namespace string, n int) {
	t.say(
		`{"type":"RECORD","record":{"stream":%q,"namespace":%q,"data":%s,"emitted_at":1}}`,
		stream,
		namespace,
		tapRecord(stream, n),
	)
}

func (t *tapRun) streamState(at, counted int) {
	t.say(
		`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"pages"},`+
			`"stream_state":{"at":%d}},"sourceStats":{"recordCount":%d.0}}}`,
		at,
		counted,
	)
}

// pagesAt is the source's own bookmark of the pages.
func pagesAt(marks []map[string]any) int {
	for _, m := range marks {
		if stream, ok := m["stream"].(map[string]any); ok {
			if state, ok := stream["stream_state"].(map[string]any); ok {
				n, _ := state["at"].(float64)
				return int(n)
			}
		}
	}
	return 0
}

func (t *tapRun) wholeLog() {
	t.status("log", "app", "STARTED")
	t.row("log", "app", 1)
	t.row("log", "app", 2)
	t.status("log", "app", "COMPLETE")
}

func (t *tapRun) trouble(class, stream string) {
	descriptor := ""
	if stream != "" {
		descriptor = fmt.Sprintf(`,"stream_descriptor":{"name":%q}`, stream)
	}
	t.say(
		`{"type":"TRACE","trace":{"type":"ERROR","emitted_at":1,"error":{"message":"It went wrong.",`+
			`"internal_message":"x","failure_type":%q%s}}}`,
		class,
		descriptor,
	)
}

// sourceHabits are what sources do.
var sourceHabits = map[string]func(*tapRun, []map[string]any) int{
	"plain": func(t *tapRun, marks []map[string]any) int {
		t.say(`not a message at all`)
		t.wholeLog()
		at := pagesAt(marks)
		t.status("pages", "", "STARTED")
		t.say(
			`{"type":"TRACE","trace":{"type":"ESTIMATE","emitted_at":1,"estimate":{"name":"pages","type":"STREAM",` +
				`"row_estimate":9}}}`,
		)
		t.status("pages", "", "RUNNING")
		since := 0
		for n := at + 1; n <= t.count("pages"); n++ {
			t.row("pages", "", n)
			if since++; n%4 == 0 {
				t.streamState(n, since)
				since = 0
				if t.config["stop"] == float64(n) {
					return 1
				}
			}
		}
		t.streamState(t.count("pages"), since)
		t.status("pages", "", "COMPLETE")
		return 0
	},
	// It counts another number of records than it sends.
	"miscounts": func(t *tapRun, marks []map[string]any) int {
		t.wholeLog()
		t.status("pages", "", "STARTED")
		t.row("pages", "", 1)
		t.streamState(1, 1)
		t.row("pages", "", 2)
		t.streamState(5, 4)
		t.status("pages", "", "COMPLETE")
		return 0
	},
	"incomplete": func(t *tapRun, marks []map[string]any) int {
		t.wholeLog()
		t.status("pages", "", "STARTED")
		t.row("pages", "", 1)
		t.streamState(1, 1)
		t.status("pages", "", "INCOMPLETE")
		return 0
	},
	// It asks for its streams one after the other and goes on whatever it is answered.
	"several": func(t *tapRun, _ []map[string]any) int {
		client, base := viaProxy(t.config), fmt.Sprint(t.config["url"])
		for i, stream := range []string{"pages", "log"} {
			namespace := []string{"", "app"}[i]
			t.status(stream, namespace, "STARTED")
			resp, err := client.Get(fmt.Sprintf("%s/pages/%d", base, i+1))
			if err != nil {
				return 1
			}
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				t.row(stream, namespace, 1)
			}
			t.status(stream, namespace, "COMPLETE")
		}
		return 0
	},
	"config_error":    func(t *tapRun, _ []map[string]any) int { t.trouble("config_error", ""); return 1 },
	"transient_error": func(t *tapRun, _ []map[string]any) int { t.trouble("transient_error", ""); return 1 },
	"system_error":    func(t *tapRun, _ []map[string]any) int { t.trouble("system_error", ""); return 1 },
	// One of its streams fails, and it reports which.
	"one_stream": func(t *tapRun, _ []map[string]any) int {
		t.wholeLog()
		t.status("pages", "", "STARTED")
		t.trouble("transient_error", "pages")
		t.status("pages", "", "INCOMPLETE")
		return 0
	},
	// It has one state for everything.
	"global": func(t *tapRun, marks []map[string]any) int {
		at := 0
		for _, m := range marks {
			global, _ := m["global"].(map[string]any)
			shared, _ := global["shared_state"].(map[string]any)
			n, _ := shared["at"].(float64)
			at = int(n)
		}
		t.status("log", "app", "STARTED")
		t.status("pages", "", "STARTED")
		for n := at + 1; n <= at+3; n++ {
			t.row("pages", "", n)
			t.row("log", "app", n)
		}
		t.say(
			`{"type":"STATE","state":{"type":"GLOBAL","global":{"shared_state":{"at":%d},"stream_states":[]},`+
				`"sourceStats":{"recordCount":6}}}`,
			at+3,
		)
		t.status("log", "app", "COMPLETE")
		t.status("pages", "", "COMPLETE")
		return 0
	},
	// It has one state for everything, from the time before there were kinds of states.
	"legacy": func(t *tapRun, _ []map[string]any) int {
		n, _ := t.state["at"].(float64)
		at := int(n)
		t.status("log", "app", "COMPLETE")
		t.row("pages", "", at+1)
		t.say(`{"type":"STATE","state":{"data":{"at":%d}}}`, at+1)
		t.status("pages", "", "COMPLETE")
		return 0
	},
	// Its provider asks it to wait.
	"waits": func(t *tapRun, _ []map[string]any) int {
		t.wholeLog()
		reset := time.Now().Add(time.Hour).UnixMilli()
		t.say(
			`{"type":"TRACE","trace":{"type":"STREAM_STATUS","emitted_at":1,`+
				`"stream_status":{"stream_descriptor":{"name":"pages"},"status":"RUNNING","reasons":[{"type":"RATE_LIMITED",`+
				`"rate_limited":{"quota_reset":%d}}]}}}`,
			reset,
		)
		t.row("pages", "", 1)
		t.status("pages", "", "COMPLETE")
		return 0
	},
	// Its token is exchanged for another while it works.
	"rotates": func(t *tapRun, _ []map[string]any) int {
		t.wholeLog()
		t.status("pages", "", "STARTED")
		credentials, _ := t.config["credentials"].(map[string]any)
		t.say(`{"type":"RECORD","record":{"stream":"pages","data":{"id":1,"title":%q},"emitted_at":1}}`, credentials["token"])
		credentials["token"] = fmt.Sprint(credentials["token"], "+")
		body, err := json.Marshal(t.config)
		if err != nil {
			return 1
		}
		t.say(`{"type":"CONTROL","control":{"type":"CONNECTOR_CONFIG","emitted_at":1,"connectorConfig":{"config":%s}}}`, body)
		t.status("pages", "", "COMPLETE")
		return 0
	},
}
