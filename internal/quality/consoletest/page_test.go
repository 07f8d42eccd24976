package consoletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

const gateManifest = `{"protocol_version":"0.1.0","connector_id":"gate","version":"1.0.0","display_name":"Gate",
"runtime_requirements":{"bindings":{"network":{"required":true},"interactive":{"required":true}}},
"capabilities":{"human_interaction":["otp"],"refresh_policy":{"recommended_mode":"manual",` +
	`"rationale":"It asks you.","maximum_staleness_seconds":86400}},
"streams":[{"name":"visits","semantics":"append_only","primary_key":"id","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}]}`

// gateConnector asks for a code and succeeds with the right one. It then requests a wait before
// the next run.
const gateConnector = `#!/bin/sh
read -r start
printf '%s\n' '{"type":"INTERACTION","request_id":"gate-1","kind":"otp","message":"Which code did the gate send?",'\
'"timeout_seconds":600}'
read -r answer
case "$answer" in *471100*) ;; *)
	printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,'\
'"error":{"code":"wrong_code","message":"the code is wrong","retryable":false}}'
	exit 1 ;;
esac
printf '%s\n' '{"type":"RECORD","stream":"visits","key":"v1","data":{"id":"v1"},"emitted_at":"2026-01-02T03:04:05Z"}'
printf '%s\n' '{"type":"PROGRESS","message":"waiting","provider_wait":{"sender":"api","wait_ms":7200000,'\
'"reason":"retry_after"}}'
printf '%s\n' '{"type":"STATE","stream":"visits","cursor":{"n":1}}'
printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":1}'
`

// A run asks for a code; the owner types it on the page of the run, and it goes on. A run
// that has to wait for its source is offered as a second, explicit step.
func TestQuestionIsAnsweredOnThePage(t *testing.T) {
	t.Parallel()
	h := found(t)
	dir := filepath.Join(h.home, "connectors", "gate")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"manifest.json": gateManifest, "connector": gateConnector} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.open("serve")
	b := h.signIn(t)
	b.visit("/sources/add/gate")
	b.submit(`form[data-add] input`)
	b.until(`location.pathname === "/sources/cin_gate_1"`)
	b.click(`a[data-follow-run]`)
	b.wait(`form[data-question]`)
	if page := b.text("main"); !strings.Contains(page, "Which code did the gate send?") {
		t.Errorf("the question is not shown:\n%s", page)
	}
	b.shoot("run-question")
	b.fill(`form[data-question] input:not([type=hidden])`, "471100")
	b.click(`form[data-question] button[value=success]`)
	b.until(`document.querySelector("#run-head[data-run-status=succeeded]") !== null`)
	b.visit("/sources/cin_gate_1")
	b.click(`[data-run-now]`)
	b.wait(`[data-ask-anyway]`)
	b.shoot("run-anyway")
	b.click(`[data-ask-anyway]`)
	b.wait(`a[data-follow-run]`)
	b.forgive("409 (Conflict)", 1) // the answer that the offer came with
	b.quiet()
}

// Names that hold markup are shown as they are and do nothing.
func TestHostileNamesDoNothing(t *testing.T) {
	t.Parallel()
	const hostile = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script>`
	e := healthy("con_hostile")
	e.Connection.DisplayName = hostile
	e.Streams[0].Name = "trees"
	b := open(t, plant(t, evidence.Runtime{}, e))
	for _, path := range []string{"/sources", "/sources/con_hostile", "/runs", "/settings/pace", "/settings", "/complete",
		"/sharing/new"} {
		b.visit(path)
		if eval[bool](b, `window.hit !== undefined || document.querySelector("main img") !== null`) {
			t.Errorf("%s runs what a name holds", path)
		}
	}
	b.visit("/sources/con_hostile")
	if got := b.text("[data-name]"); got != hostile {
		t.Errorf("the name reads %q", got)
	}
	b.quiet()
}

// The keyboard reaches everything: first the way past the navigation, and Esc closes a menu.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t, plant(t, evidence.Runtime{}, orchard()...))
	b.visit("/sources")
	b.do(chromedp.KeyEvent("\t"))
	if got := eval[string](b, `document.activeElement.innerText`); got != "Skip to content" {
		t.Errorf("the first stop is %q", got)
	}
	b.do(chromedp.KeyEvent("\r"))
	b.until(`location.hash !== ""`)
	b.visit("/sources/con_healthy")
	opened := eval[bool](b, `(() => { const m = document.querySelector("details.more"); if (!m) return false; m.open `+
		`= true; m.querySelector("summary").focus(); return true; })()`)
	if opened {
		b.do(chromedp.KeyEvent("\x1b"))
		b.until(`!document.querySelector("details.more").open`)
	}
	unreachable := eval[[]string](b,
		`[...document.querySelectorAll("a[href], button, input, select, summary")].filter(e => e.tabIndex < 0 && `+
			`e.offsetParent).map(e => e.outerHTML.slice(0, 120))`)
	if len(unreachable) > 0 {
		t.Errorf("the keyboard does not reach %q", unreachable)
	}
}
