package describe_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/manifest"
)

func shop(t *testing.T, edit ...string) (*describe.Description, error) {
	t.Helper()
	text, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.Parse([]byte(strings.NewReplacer(edit...).Replace(string(text))))
	if err != nil {
		t.Fatal(err)
	}
	return describe.Describe(doc, describe.Options{Key: "shop"})
}

func described(t *testing.T) *describe.Description {
	t.Helper()
	d, err := shop(t)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStreams(t *testing.T) {
	type row struct {
		ID, Name, Method           string
		Key                        []string
		Keyless, Guessed, Inc, All bool
		Parents                    []string
	}
	var got []row
	for _, s := range described(t).Streams {
		got = append(got, row{s.ID, s.Name, s.Method, s.Key, s.Keyless, s.GuessedKey, s.Incremental, s.ReadsAll, s.Parents})
	}
	want := []row{
		{ID: "orders", Name: "Orders", Method: "GET", Key: []string{"number"}, Inc: true},
		{ID: "items", Name: "items", Method: "POST", Key: []string{"id"}, Guessed: true, Parents: []string{"Orders"}},
		{ID: "events", Name: "events", Method: "GET", Key: []string{describe.DigestField}, Keyless: true, All: true},
		{ID: "chosen_host", Name: "chosen-host", Method: "GET", Key: []string{describe.DigestField}, Keyless: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"items"}, described(t).POST()); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsGoNowhereElse(t *testing.T) {
	d := described(t)
	got := map[string]string{}
	for _, s := range d.Disabled {
		got[s.Name] = s.Path + " " + s.Reason
	}
	for name, want := range map[string]string{
		"leak-record": "transformations[0].fields[0].value puts the secret setting credentials.key into a record",
		"leak-filter": "record_filter.condition puts the secret setting partner_token into a filter",
		"leak-error":  "error_message puts the secret setting credentials into a error text",
		"leak-host":   "requester.url_base puts the secret setting partner_token into a host name",
		"wandering":   "takes the host name from stream_partition",
		"jobs":        "uses AsyncRetriever, which is not supported",
		"chosen-host": "", // the secret decides which host, and is not part of its name
	} {
		if !strings.Contains(got[name], want) || want == "" && got[name] != "" {
			t.Errorf("%s: got %q, want %q in it", name, got[name], want)
		}
	}
	want := []describe.SecretFlow{
		{Setting: "credentials.key", Place: describe.InSignIn, Streams: []string{"Orders", "items"}},
		{Setting: "partner_token", Place: describe.InAddress, Streams: []string{"chosen-host"}},
		{Setting: "partner_token", Place: describe.InQuery, Streams: []string{"Orders", "items"}},
	}
	if diff := cmp.Diff(want, d.Secrets); diff != "" {
		t.Error(diff)
	}
}

func TestHosts(t *testing.T) {
	d := described(t)
	want := []describe.Host{
		{Name: "{partner_token}.shop.example.test", Settings: []string{"partner_token"}, Use: "requests"},
		{Name: "{server}", Settings: []string{"server"}, Use: "requests"},
		{Name: "{shop}.shop.example.test", Settings: []string{"shop"}, Use: "requests"},
	}
	if diff := cmp.Diff(want, d.Hosts); diff != "" {
		t.Error(diff)
	}
	const server = "https://files.example.test"
	for name, row := range map[string]struct {
		shop, server, want string
		own                bool
	}{
		"names":         {shop: "corner", server: server, want: "corner files"},
		"bare name":     {shop: "corner", server: "Files.example.test", want: "corner files"},
		"path":          {shop: "evil.example.test/x", server: server},
		"user":          {shop: "user@evil.example.test/", server: server},
		"fragment":      {shop: "evil.example.test#", server: server},
		"empty":         {server: server},
		"space":         {shop: "a b", server: server},
		"user and name": {shop: "corner", server: "https://user@files.example.test"},
		"no host":       {shop: "corner", server: "https://"},
		"not encrypted": {shop: "corner", server: "http://files.example.test"},
		"this machine":  {shop: "corner", server: "https://127.0.0.1:9"},
		"localhost":     {shop: "corner", server: "https://localhost"},
		"private":       {shop: "corner", server: "https://192.168.1.2"},
		"own":           {shop: "corner", server: "http://[::1]:9", own: true, want: "[::1]:9 corner"},
	} {
		config := expression.NewObject(3).Set("shop", expression.StringValue(row.shop)).
			Set("region", expression.StringValue("eu")).Set("server", expression.StringValue(row.server)).Value()
		hosts, err := d.ResolveHosts(config, row.own)
		if row.want == "" {
			if err == nil {
				t.Errorf("%s: got %v, want an error", name, hosts)
			}
			continue
		}
		got := strings.Join(hosts, " ")
		got = strings.NewReplacer(".shop.example.test", "", ".example.test", "", " free", "").Replace(got)
		if err != nil || got != row.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, row.want)
		}
	}
}

func TestSettings(t *testing.T) {
	type row struct {
		Name, Env, Choice string
		Secret, Required  bool
	}
	var got []row
	for _, s := range described(t).Settings {
		got = append(got, row{s.Name(), s.Env, s.Choice, s.Secret, s.Required})
	}
	want := []row{
		{"shop", "PDPP_SHOP_SHOP", "", false, true},
		{"credentials.kind", "PDPP_SHOP_CREDENTIALS_KIND", "By key", false, false},
		{"credentials.key", "PDPP_SHOP_CREDENTIALS_KEY", "By key", true, true}, // read by an authenticator
		{"region", "PDPP_SHOP_REGION", "", false, false},
		{"start_date", "PDPP_SHOP_START_DATE", "", false, false},
		{"server", "PDPP_SHOP_SERVER", "", false, false},
		{"partner_token", "PDPP_SHOP_PARTNER_TOKEN", "", true, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManifest(t *testing.T) {
	m := described(t).Manifest
	raw, err := m.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Parse(raw); err != nil {
		t.Fatal(err)
	}
	orders, _ := m.Stream("orders")
	if orders.ConsentTimeField != "changed" || orders.Display.Kind != manifest.KindEvent ||
		orders.Display.Label != "Orders" || orders.CursorField != "changed" || !orders.Incremental {
		t.Errorf("orders %+v", orders)
	}
	events, _ := m.Stream("events")
	if events.Semantics != manifest.AppendOnly || events.PrimaryKey[0] != describe.DigestField {
		t.Errorf("events %+v", events)
	}
	jobs, _ := m.Stream("jobs")
	if jobs.Policy() != manifest.PolicyUnsupported || jobs.IsRequired() {
		t.Errorf("jobs %+v", jobs)
	}
	if m.DisplayName != "The Shop" || m.Sensitivity != "financial" || m.Version != "2.0.0" {
		t.Errorf("name %q, sensitivity %q", m.DisplayName, m.Sensitivity)
	}
	secret := map[string]bool{}
	for _, f := range m.Setup.CredentialCapture.Fields {
		secret[f.Name] = f.Secret
	}
	if !secret["credentials_key"] || !secret["partner_token"] || secret["shop"] {
		t.Errorf("secret fields %v", secret)
	}
	if _, ok := secret["credentials_kind"]; ok {
		t.Error("the form asks for the constant of a choice")
	}
}

func TestAdditionsAreChecked(t *testing.T) {
	_, err := shop(t, "      Orders:\n        display", "      Nothing:\n        display")
	var problems document.Problems
	if !errors.As(err, &problems) || problems[0].Path != "metadata.pdpp.streams.Nothing" {
		t.Errorf("a stream that does not exist: %v", err)
	}
	_, err = shop(t, "consent_time_field: changed", "consent_time_field: nothing")
	var wrong manifest.Problems
	if !errors.As(err, &wrong) {
		t.Errorf("a field that does not exist: %v", err)
	}
}

// A choice has one field, however many members its alternatives fix.
func TestChoices(t *testing.T) {
	settings := []describe.Setting{
		{Path: []string{"plan", "kind"}, Choice: "Free", Constant: "free", Env: "KIND"},
		{Path: []string{"plan", "limit"}, Choice: "Free", Constant: "50", Type: "integer", Env: "LIMIT"},
		{Path: []string{"plan", "kind"}, Choice: "Paid", Constant: "paid", Env: "KIND"},
		{Path: []string{"plan", "key"}, Choice: "Paid", Env: "KEY"},
	}
	choices := describe.Choices(settings)
	if len(choices) != 1 || choices[0].Name() != "plan.kind" {
		t.Fatalf("choices: %+v", choices)
	}
	for _, c := range []struct{ kind, key, want string }{
		{"", "", "Free"}, {"", "k", "Paid"}, {"free", "k", "Free"}, {"Paid", "", "Paid"}, {"other", "k", ""},
	} {
		env := func(name string) string { return map[string]string{"KIND": c.kind, "KEY": c.key}[name] }
		if got := choices[0].Chosen(settings, env); got != c.want {
			t.Errorf("kind %q, key %q: %q is chosen, want %q", c.kind, c.key, got, c.want)
		}
	}
}
