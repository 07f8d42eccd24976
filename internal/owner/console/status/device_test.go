package status

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// aDevice is a source of the collector on Maple with the heartbeat.
func aDevice(id, host, heartbeat string) string {
	return `{"source_instance_id": "` + id + `", "host": "` + host +
		`", "device_status": "active", "status": "active", "heartbeat": ` + heartbeat + `}`
}

const (
	blocked = `{"at": "2026-03-10T11:50:00Z", "status": "blocked", "records_pending": 7, "outbox": {"pending": 7, ` +
		`"dead_letter": 4, "succeeded": 9001, "total": 9012}}`
	draining = `{"at": "2026-03-10T11:50:00Z", "status": "retrying", "records_pending": 24, "outbox": {"pending": 24, ` +
		`"succeeded": 9001, "total": 9025}}`
)

func devices(sources ...string) string {
	return `{"local_device": {"sources": [` + strings.Join(sources, ",") + `]}}`
}

func stalledPages(t *testing.T, sources ...string) (row, page1 *html.Node, k *keeper) {
	t.Helper()
	k = newKeeper(plant(t, "device-drained", devices(sources...)))
	h := serve(k)
	return find(page(t, h, "/sources"), "id", "row-con_notes")[0], page(t, h, "/sources/con_notes"), k
}

// A stalled device gets a panel with what to run, why, and where; the commands name the
// source instance and nothing of the installation.
func TestStalledDeviceShowsItsRecovery(t *testing.T) {
	for _, id := range []string{"CH-08", "CH-08.1", "CH-08.2", "CH-12", "CH-12.1", "CH-23.9", "CH-31.2"} {
		t.Attr("spec", id)
	}
	_, shown, k := stalledPages(t, aDevice("src_maple", "Maple", blocked))
	c, err := k.view.One(t.Context(), "con_notes")
	if err != nil {
		t.Fatal(err)
	}
	panel := find(shown, "id", "recover")
	if len(panel) != 1 {
		t.Fatalf("%d panels", len(panel))
	}
	words := textOf(panel[0])
	for _, want := range []string{c.Recovery.Label, c.Recovery.Summary, c.Recovery.Remedy, "Maple", "7 pending",
		"4 failed uploads"} {
		if want == "" || !strings.Contains(words, want) {
			t.Errorf("the panel does not say %q:\n%s", want, words)
		}
	}
	steps := find(panel[0], "data-command", "")
	if len(steps) != len(c.Recovery.Commands) || len(steps) == 0 {
		t.Fatalf("%d commands, want %d", len(steps), len(c.Recovery.Commands))
	}
	for i, step := range steps {
		command := c.Recovery.Commands[i]
		if got := one(t, step, "data-purpose", ""); got != command.Purpose || got == "" {
			t.Errorf("purpose %q, want %q", got, command.Purpose)
		}
		code := find(step, "id", "")
		copies := find(step, "data-copy", "")
		if len(copies) != 1 || textOf(code[0]) != command.Command {
			t.Errorf("the command to copy is %q, want %q", textOf(code[0]), command.Command)
		}
		for _, bad := range []string{"http", "token", "con_notes", "--base", "="} {
			if strings.Contains(command.Command, bad) {
				t.Errorf("%q holds %q", command.Command, bad)
			}
		}
	}
	if strings.Contains(words, "/home") || strings.Contains(words, "9,001") || strings.Contains(words, "9,012") {
		t.Errorf("the panel shows what is delivered or where it lies: %s", words)
	}
	if len(find(shown, "data-cue", "upload")) != 0 {
		t.Error("a stalled device is shown as uploading")
	}
}

// The row shows how much is stuck, with a number for each kind, and links to the recovery.
func TestStalledRowShowsTheScale(t *testing.T) {
	for _, id := range []string{"CH-13", "CH-13.1", "CH-13.3"} {
		t.Attr("spec", id)
	}
	row, _, _ := stalledPages(t, aDevice("src_maple", "Maple", blocked))
	cue := find(row, "data-cue", "stuck")
	if len(cue) != 1 {
		t.Fatalf("%d cues", len(cue))
	}
	if got := textOf(cue[0]); got != "7 pending, 4 failed uploads" {
		t.Errorf("the cue says %q", got)
	}
	if links := find(cue[0], "href", "/sources/con_notes#ask"); len(links) != 1 {
		t.Error("the cue does not lead to the recovery")
	}
	if posts := find(row, "action", ""); len(posts) != 0 {
		t.Error("the row offers to fix a device from here")
	}
}

// Without exactly one trusted source there is no command that could be copied.
func TestRecoveryWithoutOneSourceIsUnavailable(t *testing.T) {
	t.Attr("spec", "CH-23.10")
	for name, sources := range map[string][]string{
		"two":  {aDevice("src_maple", "Maple", blocked), aDevice("src_birch", "Birch", blocked)},
		"odd":  {aDevice("src maple; rm", "Maple", blocked)},
		"good": {aDevice("src_maple", "Maple", blocked)},
	} {
		_, shown, _ := stalledPages(t, sources...)
		panel := find(shown, "id", "recover")[0]
		unavailable, commands := len(find(panel, "data-unavailable", "")), len(find(panel, "data-copy", ""))
		if name == "good" {
			if unavailable != 0 || commands == 0 || !strings.Contains(textOf(panel), "--source-instance-id src_maple") {
				t.Errorf("%s: %s", name, textOf(panel))
			}
			continue
		}
		if unavailable != 1 || commands != 0 || strings.Contains(textOf(panel), "pdpp-local-collector") {
			t.Errorf("%s: %s", name, textOf(panel))
		}
	}
}

// A device that uploads without help is shown as background progress, with how much is left and no
// command.
func TestDrainingDeviceIsBackgroundProgress(t *testing.T) {
	for _, id := range []string{"CH-31", "CH-31.1", "CH-08.3", "CH-12.2", "CH-13.2"} {
		t.Attr("spec", id)
	}
	row, shown, _ := stalledPages(t, aDevice("src_maple", "Maple", draining))
	cue := find(shown, "data-cue", "upload")
	if len(cue) != 1 {
		t.Fatalf("%d cues", len(cue))
	}
	words := textOf(cue[0])
	for _, want := range []string{"Maple", "24 saved records", "The device reported today 11:50",
		"The last batch arrived today 11:49"} {
		if !strings.Contains(words, want) {
			t.Errorf("the cue does not say %q: %s", want, words)
		}
	}
	if strings.Contains(textOf(shown), "pdpp-local-collector") || len(find(shown, "id", "recover")) != 0 {
		t.Error("a recovery is shown for a device that uploads")
	}
	if strings.Contains(textOf(row), "24") || len(find(row, "data-cue", "stuck")) != 0 {
		t.Errorf("the row counts what a device uploads by itself: %s", textOf(row))
	}
	row, shown, _ = stalledPages(t,
		aDevice("src_maple", "Maple",
			`{"at": "2026-03-10T11:50:00Z", "status": "healthy", "records_pending": 0, "outbox": {"succeeded": 9001, `+
				`"total": 9001}}`))
	if len(find(row, "data-cue", ""))+len(find(shown, "data-cue", ""))+len(find(shown, "id", "recover")) != 0 {
		t.Error("a quiet device has a cue")
	}
}
