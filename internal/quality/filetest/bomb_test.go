package filetest

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// packed writes an archive with one member: a text, a piece that is repeated up to so many bytes, and a text. It is
// an hour old, so that a run does not wait for its end.
func packed(t *testing.T, path, name, before, piece string, bytes int, after string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create(name)
	if err == nil {
		_, err = io.WriteString(w, before)
	}
	block := strings.Repeat(piece, 1<<18)
	for written := 0; err == nil && written < bytes; written += len(block) {
		_, err = io.WriteString(w, block)
	}
	if err == nil {
		_, err = io.WriteString(w, after)
	}
	if err == nil {
		err = errors.Join(z.Close(), f.Close())
	}
	if err == nil {
		at := time.Now().Add(-time.Hour)
		err = os.Chtimes(path, at, at)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestBombs lets the shipped programs read exports that are made to break their reader. Each is refused in
// words, or read without what is hostile; what is good in the same folder is stored, and memory stays bounded.
func TestBombs(t *testing.T) {
	health, takeout := t.TempDir(), t.TempDir()
	h := newHouse(t, "APPLE_HEALTH_EXPORT_DIR="+health, "GOOGLE_TAKEOUT_DIR="+takeout)
	steps := func(n int) string {
		const record = `<Record type="HKQuantityTypeIdentifierStepCount" sourceName="watch" unit="count" ` +
			`startDate="2026-01-02 03:04:%02d +0000" endDate="2026-01-02 03:05:05 +0000" value="%d"/>`
		return fmt.Sprintf(record, n, 1000+n)
	}
	const begin, end = `<?xml version="1.0"?><HealthData>`, `</HealthData>`
	laughs := `<!ENTITY a0 "ha">`
	for i := range 30 {
		laughs += fmt.Sprintf(`<!ENTITY a%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&a%d;", i), 10))
	}
	declared := func(entities string) string {
		return `<?xml version="1.0"?><!DOCTYPE HealthData [` + entities + `]><HealthData>`
	}
	xml := func(name, before, piece string, bytes int, after string) {
		packed(t, filepath.Join(health, name+".zip"), "apple_health_export/export.xml", before, piece, bytes, after)
	}
	xml("good", begin, "", 0, steps(1)+end)
	xml("laughs", declared(laughs), "", 0, `<Record type="&a30;" sourceName="&a30;"/>`+steps(2)+end)
	external := strings.Replace(steps(3), "watch", "&e;", 1)
	xml("external", declared(`<!ENTITY e SYSTEM "file:///etc/passwd">`), "", 0, external+end)
	xml("spaces", begin+steps(4), " ", 120<<20, end)
	xml("attribute", begin+steps(5)+`<Record type="`, "x", 20<<20, `"/>`+steps(6)+end)
	xml("deep", begin+steps(7), "<a>", 4<<20, steps(8)+end)

	place := func(n int) string {
		return fmt.Sprintf(`{"latitudeE7":401234567,"longitudeE7":-37000000,"timestamp":"2024-01-01T10:00:%02dZ"}`, n)
	}
	records := func(name, before, piece string, bytes int, after string) {
		packed(t, filepath.Join(takeout, name+".zip"), "Takeout/Location History/Records.json", before, piece, bytes, after)
	}
	records("good", `{"locations":[`, "", 0, place(1)+`]}`)
	records("text", `{"locations":[`+place(2)+`,{"timestamp":"`, "x", 20<<20, `"},`+place(3)+`]}`)
	records("deep", `{"locations":[`+place(4)+`,`, "[", 1<<20, "")
	packed(t, filepath.Join(takeout, "nested.zip"), "Takeout/inner.zip", "PK\x03\x04", "", 0, "")

	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(installed, "pdpp"), args...)
		cmd.Env = h.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("pdpp %v: %v\n%s", args, err, out)
		}
		// That of the command and of every process that it has waited for.
		if most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; most > 192<<10 {
			t.Errorf("pdpp %v took %d MiB", args, most>>10)
		}
		return string(out)
	}
	refused := map[string]string{}
	for connector, stream := range map[string]string{"apple_health": "records", "google_takeout": "location_history"} {
		run("run", connector)
		var found struct {
			Gaps []struct {
				Reason  string `json:"reason"`
				Text    string `json:"text"`
				Locator struct {
					File string `json:"file"`
				} `json:"detail_locator"`
			} `json:"gaps"`
		}
		if err := json.Unmarshal([]byte(run("gaps", "--json", "--connection", connector)), &found); err != nil {
			t.Fatal(err)
		}
		for _, g := range found.Gaps {
			refused[connector+" "+g.Locator.File] = g.Reason
			if g.Text == "" {
				t.Errorf("%s has no words", g.Reason)
			}
		}
		// What comes after an entry that is too large in the same list is not read, and that is declared.
		want := map[string]int{"apple_health": 8, "google_takeout": 3}[connector]
		stored := run("export", stream, "--connection", connector)
		n := strings.Count(stored, `"connection_id"`)
		if n != want || strings.Contains(stored, "root:") || strings.Contains(stored, "haha") {
			t.Errorf("%s: %d records, want %d: %.2000s", connector, n, want, stored)
		}
	}
	want := map[string]string{
		"apple_health laughs.zip": "row_unreadable", "apple_health attribute.zip": "row_unreadable",
		"apple_health spaces.zip": "archive_too_large", "google_takeout text.zip": "member_damaged",
		"google_takeout deep.zip": "member_damaged", "google_takeout nested.zip": "archive_in_archive",
	}
	if !maps.Equal(refused, want) {
		t.Errorf("refused are %v, want %v", refused, want)
	}
	t.Attr("result", fmt.Sprintf("8 hostile archives: %d refused in words, 2 read without what is hostile", len(want)))
}
