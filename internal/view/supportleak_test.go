package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// plant writes a text of its own into every text that evidence can hold, however deep, and returns the texts by path.
func plant(v reflect.Value, path string, planted map[string]string) {
	switch v.Kind() {
	case reflect.String:
		text := fmt.Sprintf("ada%d@example.org /home/ada/taxes %d.pdf", len(planted), len(planted))
		v.SetString(text)
		planted[text] = path
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem(), path, planted)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(noon))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				plant(v.Field(i), path+"."+v.Type().Field(i).Name, planted)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0), path+"[]", planted)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		plant(key, path+"{key}", planted)
		plant(value, path+"{}", planted)
		v.SetMapIndex(key, value)
	}
}

// ownTexts are texts that only this program writes, or that are checked against a manifest or a closed list before
// they are stored. Whatever is new in evidence is redacted or argued for here.
var ownTexts = []string{
	".Attention[].ID", ".Attention[].Lifecycle", ".Attention[].Sensitivity", ".Connection.ConnectorID", ".Connection.ID",
	".Connection.SourceKind", ".Connection.Status", ".Credential.Status", ".Device.Sources[].DeviceStatus",
	".Device.Sources[].Heartbeat.Status", ".Device.Sources[].Status", ".Gaps.Groups[].Stream", ".LastRun.Status",
	".Probes[].Dimension", ".Probes[].Status", ".Refresh.BotDetectionSensitivity", ".Refresh.InteractionPosture",
	".Refresh.RateLimitSensitivity", ".Refresh.RecommendedMode", ".Streams[].Fact.Checkpoint",
	".Streams[].Fact.Drift.Differences[].Expected", ".Streams[].Fact.Drift.Differences[].Found",
	".Streams[].Fact.Drift.Differences[].Kind", ".Streams[].Fact.Drift.Differences[].Member",
	".Streams[].Fact.Drift.Differences[].Route", ".Streams[].Fact.RunStatus", ".Streams[].Name", ".Streams[].Policy",
	".Unreadable[]",
}

// TestNoTextSurvivesRedaction plants personal content into every text of evidence. None that another program can
// write is in a support file.
func TestNoTextSurvivesRedaction(t *testing.T) {
	var e evidence.Evidence
	planted := map[string]string{}
	plant(reflect.ValueOf(&e).Elem(), "", planted)
	body, err := json.Marshal(Redact(&e))
	if err != nil {
		t.Fatal(err)
	}
	for text, path := range planted {
		if strings.Contains(string(body), text) && !slices.Contains(ownTexts, path) {
			t.Errorf("%s is in the support file", path)
		}
	}
	for _, path := range ownTexts {
		if !slices.Contains(slices.Collect(maps.Values(planted)), path) {
			t.Errorf("there is no %s any more", path)
		}
	}
	t.Attr("result", fmt.Sprintf("%d texts planted, %d of them in the support file, all written by this program alone",
		len(planted), len(ownTexts)))
}
