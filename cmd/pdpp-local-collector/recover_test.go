package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecoverUsesTheProfileOfTheSource sets up two sources of two servers on one host and recovers one of them with
// the command that the console shows.
func TestRecoverUsesTheProfileOfTheSource(t *testing.T) {
	t.Attr("spec", "CH-23.11")
	h := newHost(t)
	attic, cellar := newServer(t, "dev_attic", token), newServer(t, "dev_cellar", "tok-other")
	queues := filepath.Join(h.home, "queues")
	atticDiary := h.enrol(t, attic, "dsrc_attic", "PDPP_COLLECTOR_QUEUE="+filepath.Join(queues, "attic.sqlite"))
	cellarDiary := h.enrol(t, cellar, "dsrc_cellar")
	write(t, atticDiary, "monday tuesday")
	write(t, cellarDiary, "friday")
	for s, source := range map[*server]string{attic: "dsrc_attic", cellar: "dsrc_cellar"} {
		s.refuse(true)
		if out, _ := h.must(t, exitFailed, "run", "--source-instance-id", source); !strings.Contains(out,
			"recover --source-instance-id "+source) {
			t.Errorf("the next step is not named:\n%s", out)
		}
		s.refuse(false)
	}
	before, requests, others := files(t, h.home), attic.count(), cellar.count()

	// The dry run explains, and changes and sends nothing.
	out, _ := h.must(t, exitOK, "recover", "--source-instance-id", "dsrc_attic")
	for _, want := range []string{"nothing is changed or sent", "dsrc_attic (diary)", "/queues/attic.sqlite",
		"invalid_request (1)", "put 1 failed upload back", "--apply"} {
		if !strings.Contains(out, want) {
			t.Errorf("the dry run does not say %q:\n%s", want, out)
		}
	}
	if out, _ = h.must(t, exitOK, "recover", "--source-instance-id", "dsrc_attic", "--json"); !strings.Contains(out,
		`"would_requeue":1`) {
		t.Errorf("as JSON: %s", out)
	}
	if !maps.Equal(files(t, h.home), before) || attic.count() != requests {
		t.Errorf("the dry run left a trace: %d requests more", attic.count()-requests)
	}

	// An id without a profile is the operator's error, whatever queues there are.
	h.must(t, exitUsage, "recover", "--source-instance-id", "dsrc_garret")
	_, message := h.must(t, exitUsage, "recover", "--source-instance-id", "dsrc_garret", "--apply")
	if !strings.Contains(message, "no profile") || !strings.Contains(message, "dsrc_garret") ||
		!strings.Contains(message, "next: ") {
		t.Errorf("the error does not explain itself: %s", message)
	}
	if !maps.Equal(files(t, h.home), before) || attic.count() != requests {
		t.Error("an unknown id touched something")
	}

	// Applying sends what failed, runs the connector once, all by the same profile.
	write(t, atticDiary, "monday tuesday wednesday")
	out, _ = h.must(t, exitOK, "recover", "--source-instance-id", "dsrc_attic", "--apply")
	if !strings.Contains(out, "1 failed upload put back") || !strings.Contains(out, "status     healthy") {
		t.Errorf("applied:\n%s", out)
	}
	attic.mustHave(t, "monday", "tuesday", "wednesday")
	if n := lines(t, h.runs("dsrc_attic")); n != 2 {
		t.Errorf("the connector ran %d times, want once before and once now", n)
	}
	after := files(t, h.home)
	for path, body := range before {
		if strings.Contains(path, "cellar") && after[path] != body {
			t.Errorf("the other source's %s changed", path)
		}
	}
	if cellar.count() != others {
		t.Error("the other source's server was spoken to")
	}
	if out, _ := h.must(t, exitOK, "doctor", "--source-instance-id", "dsrc_attic", "--json"); !strings.Contains(out,
		`"status":"ok"`) {
		t.Errorf("doctor: %s", out)
	}
	if out, _ := h.must(t, exitUnhealthy, "doctor", "--source-instance-id", "dsrc_cellar"); !strings.Contains(out,
		"failed_uploads") {
		t.Errorf("doctor: %s", out)
	}
}

// TestRecoverTakesAnExplicitEnvironment recovers without a profile, from the
// queue that the environment names; a partial one is refused.
func TestRecoverTakesAnExplicitEnvironment(t *testing.T) {
	t.Attr("spec", "CH-23.11")
	h := newHost(t)
	s := newServer(t, "dev_attic", token)
	diary, queue := filepath.Join(h.home, "diary.txt"), filepath.Join(h.home, "q", "attic.sqlite")
	write(t, diary, "monday")
	partial := append(h.env, "PDPP_REFERENCE_BASE_URL="+s.URL, "PDPP_LOCAL_DEVICE_ID=dev_attic",
		"PDPP_LOCAL_DEVICE_TOKEN="+token,
		"PDPP_SOURCE_INSTANCE_ID=dsrc_attic", "PDPP_CONNECTOR_ID=diary", "DIARY_FILE="+diary,
		"DIARY_RUNS="+h.runs("dsrc_attic"))
	h.env = partial
	h.must(t, exitUsage, "recover", "--source-instance-id", "dsrc_attic", "--apply")
	if _, err := os.Stat(filepath.Join(h.home, ".local")); !os.IsNotExist(err) || s.count() != 0 {
		t.Errorf("a queue was guessed: %v, %d requests", err, s.count())
	}
	h.env = append(partial, "PDPP_COLLECTOR_QUEUE="+queue)
	h.must(t, exitUsage, "recover", "--source-instance-id", "dsrc_other", "--apply")
	h.must(t, exitOK, "recover", "--source-instance-id", "dsrc_attic", "--apply")
	s.mustHave(t, "monday")
	if _, err := os.Stat(queue); err != nil {
		t.Error(err)
	}
}
