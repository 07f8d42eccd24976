package foreign_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

func init() {
	// It writes type names in lower case, and text between messages.
	tapHabits["chatty"] = func(t *tapRun) int {
		t.say(`Starting sync`)
		t.say(`{"type":"schema","stream":"pages","schema":{"type":"object"},"key_properties":["id"]}`)
		t.say(`WARNING: 3 deprecated options`)
		t.say(`{"type":"record","stream":"pages","record":%s}`, tapRecord("pages", 1))
		t.say(`{"type":"METRIC","value":3}`)
		t.say(`{"type":"state","value":{"bookmarks":{"pages":1}}}`)
		return 0
	}
	// It loses half a line.
	tapHabits["garbage"] = func(t *tapRun) int {
		t.schema("pages")
		t.record("pages", 1)
		t.mark(1, 0)
		t.say(`{"type":"RECORD","stream":"pages","record":{"id":2,"ti`)
		t.record("pages", 3)
		t.mark(3, 0)
		return 0
	}
	// It stops writing and never exits.
	tapHabits["hang"] = func(t *tapRun) int {
		t.schema("pages")
		t.record("pages", 1)
		t.mark(1, 0)
		select {}
	}
	tapHabits["fails"] = func(t *tapRun) int {
		t.schema("pages")
		for n := t.at("pages") + 1; n <= t.at("pages")+5; n++ {
			t.record("pages", n)
		}
		t.mark(t.at("pages")+5, 0)
		t.record("pages", 99)
		fmt.Fprintln(os.Stderr, "Traceback: it broke")
		return 1
	}
	// It sends what its own schema forbids.
	tapHabits["mistyped"] = func(t *tapRun) int {
		t.schema("pages")
		t.say(`{"type":"RECORD","stream":"pages","record":{"id":1,"title":7,"more":{"deep":[1]}}}`)
		t.say(`{"type":"RECORD","stream":"pages","record":{"id":2,"title":null}}`)
		return 0
	}
	// It declares that the records of a version are complete.
	tapHabits["versions"] = func(t *tapRun) int {
		t.schema("pages")
		version := t.count("version")
		if t.count("early") > 0 { // as taps do when they see a table for the first time
			t.say(`{"type":"ACTIVATE_VERSION","stream":"pages","version":%d}`, version)
		}
		for n := t.count("from"); n <= t.count("pages"); n++ {
			t.say(`{"type":"RECORD","stream":"pages","version":%d,"record":%s}`, version, tapRecord("pages", n))
		}
		t.say(`{"type":"ACTIVATE_VERSION","stream":"pages","version":%d}`, version)
		t.mark(0, 0)
		return t.count("exit")
	}
	// It leaves records in files, at the location in the argument.
	tapHabits["batch"] = func(t *tapRun) int {
		t.schema("pages")
		dir, err := os.Getwd()
		if err != nil {
			return 1
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		fmt.Fprintln(z, tapRecord("pages", 1))
		fmt.Fprintln(z, tapRecord("pages", 2))
		_ = z.Close()
		_ = os.WriteFile(filepath.Join(dir, "one.jsonl.gz"), packed.Bytes(), 0o600)
		_ = os.WriteFile(filepath.Join(dir, "two.jsonl"), []byte(tapRecord("pages", 3)+"\n"), 0o600)
		_ = os.Symlink("/etc/passwd", filepath.Join(dir, "link.jsonl"))
		batch := func(format, compression, file string) {
			t.say(
				`{"type":"BATCH","stream":"pages","encoding":{"format":%q,"compression":%q},"manifest":[%q]}`,
				format,
				compression,
				file,
			)
		}
		switch t.config["batch"] {
		case "below":
			batch("jsonl", "gzip", "file://"+dir+"/one.jsonl.gz")
			batch("jsonl", "none", "file://"+dir+"/two.jsonl")
		case "outside":
			batch("jsonl", "none", "file:///etc/passwd")
		case "up":
			batch("jsonl", "none", "file://"+dir+"/../../etc/passwd")
		case "link":
			batch("jsonl", "none", "file://"+dir+"/link.jsonl")
		case "bucket":
			batch("jsonl", "gzip", "s3://bucket/one.jsonl.gz")
		case "parquet":
			batch("parquet", "none", "file://"+dir+"/two.jsonl")
		}
		t.mark(3, 0)
		return 0
	}
	// It gets a new token from its provider and writes it into its own configuration.
	tapHabits["rotates"] = func(t *tapRun) int {
		t.schema("pages")
		t.record("pages", 1)
		t.say(`{"type":"RECORD","stream":"pages","record":{"id":2,"title":%q}}`, t.config["token"])
		path := argument("--config")
		t.config["token"] = fmt.Sprint(t.config["token"], "+")
		body, err := json.Marshal(t.config)
		if err != nil || os.WriteFile(path, body, 0o600) != nil {
			return 1
		}
		t.mark(2, 0)
		return 0
	}
	// It asks an API page by page and goes on whatever it answers, but for 401.
	tapHabits["api"] = func(t *tapRun) int { return apiTap(t, viaProxy(t.config)) }
	// It asks for its streams one after the other, each after its SCHEMA, and goes on whatever it is answered.
	tapHabits["several"] = func(t *tapRun) int {
		client, base := viaProxy(t.config), fmt.Sprint(t.config["url"])
		if t.config["order"] == "schemas first" {
			for _, stream := range t.catalog {
				t.schema(stream)
			}
		}
		for i, stream := range []string{"pages", "visits", "log"} {
			if t.config["order"] == nil {
				t.schema(stream)
			}
			resp, err := client.Get(fmt.Sprintf("%s/pages/%d", base, i+1))
			if err != nil {
				return 1
			}
			_ = resp.Body.Close()
			if t.config["order"] == "answer first" {
				t.schema(stream)
			}
			switch {
			case resp.StatusCode == http.StatusOK:
				t.record(stream, 1)
			case t.config["strict"] == true:
				return 1
			}
			t.mark(i+1, 0)
		}
		return 0
	}
	// It takes no notice of the variables that lead to the proxy.
	tapHabits["direct"] = func(t *tapRun) int { return apiTap(t, http.DefaultClient) }
}

func argument(name string) string {
	for i, arg := range os.Args {
		if arg == name {
			return os.Args[i+1]
		}
	}
	return ""
}

// viaProxy uses the proxy variables for loopback too, like most libraries except Go's.
func viaProxy(config map[string]any) *http.Client {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil {
		return http.DefaultClient
	}
	roots := x509.NewCertPool()
	if body, err := os.ReadFile(os.Getenv("SSL_CERT_FILE")); err == nil {
		roots.AppendCertsFromPEM(body)
	} else if text, ok := config["ca"].(string); ok {
		roots.AppendCertsFromPEM([]byte(text))
	}
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
}

func apiTap(t *tapRun, client *http.Client) int {
	t.schema("pages")
	base, _ := t.config["url"].(string)
	at := t.at("pages")
	for n := at + 1; n <= t.count("pages"); n++ {
		resp, err := client.Get(fmt.Sprintf("%s/pages/%d", base, n))
		if err != nil {
			fmt.Fprintln(os.Stderr, "request failed:", err)
			return 1
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		switch {
		case resp.StatusCode == http.StatusOK:
			t.say(`{"type":"RECORD","stream":"pages","record":%s}`, body)
		case resp.StatusCode == http.StatusUnauthorized || t.config["strict"] == true:
			fmt.Fprintln(os.Stderr, "status", resp.StatusCode)
			return 1
		}
		t.mark(n, 0)
	}
	return 0
}
