package consoletest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A page that has its address and not yet its fields is not there: what is read of it after a wait
// is complete, however slowly the rest comes.
func TestPageIsThereWhenItIsComplete(t *testing.T) {
	t.Parallel()
	committed, rest := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, `<a href="/found?q=the">Go</a>`)
		case "/committed":
			once.Do(func() { close(committed) })
		case "/found":
			_, _ = io.WriteString(w, `<!doctype html><script>fetch("/committed")</script><p>Found</p>`)
			_ = http.NewResponseController(w).Flush()
			<-rest
			_, _ = io.WriteString(w, `<input name="q" value="the">`)
		}
	}))
	t.Cleanup(s.Close)
	release := sync.OnceFunc(func() { close(rest) })
	defer release() // before the server ends, which waits for its answers
	b := open(t, s.URL)
	b.visit("/")
	b.click(`a`)
	<-committed
	const there = `location.search === "?q=the"`
	if b.holds(b.ctx, there) {
		t.Error("half a page counts as there")
	}
	release()
	b.until(there)
	if q := eval[string](b, `document.querySelector("input[name=q]").value`); q != "the" {
		t.Errorf("the field holds %q", q)
	}
}
