//pdpp:tier programs

package googlecontacts_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/google"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	small := google.Config{Seed: 5, People: 23, Others: 11, Groups: 4, MaxPage: 4}
	large := google.Config{Seed: 5, People: 160, Others: 50, Groups: 9, MaxPage: 9}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "ya29.under_test"

func target(t *testing.T, cfg google.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "google_contacts"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "GOOGLE_CONTACTS_ACCESS_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "add_people", N: 3}, {Op: "edit_people", N: 3}, {Op: "delete_others", N: 1}, {Op: "add_others", N: 2},
			{Op: "add_groups", N: 1}, {Op: "rename_groups", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete_people", N: 2}, DeletedStream: google.StreamContacts,
		Scoped: google.StreamContacts, OptionalField: "family_name",
		Stored: stored,
	}
}

func start(t *testing.T, cfg google.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	s, err := google.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"GOOGLE_CONTACTS_ACCESS_TOKEN": token, "PDPP_GOOGLE_CONTACTS_BASE_URL": s.BaseURL + "/v1"}}
}

// stored returns the record that the store must hold for an object of Google, independent of the connector's mapping.
func stored(stream, _ string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := map[string]any{"id": w["resourceName"]}
	if stream == google.StreamGroups {
		r["name"], r["kind"], r["member_count"] = w["formattedName"], "own", 0
		if w["groupType"] == "SYSTEM_CONTACT_GROUP" {
			r["kind"] = "system"
		}
		if w["memberCount"] != nil {
			r["member_count"] = w["memberCount"]
		}
		return json.Marshal(r)
	}
	one := func(name string) map[string]any { // the first of a kind
		all, _ := w[name].([]any)
		if len(all) == 0 {
			return map[string]any{}
		}
		return all[0].(map[string]any)
	}
	put := func(ours string, value any) {
		if value != nil && value != "" {
			r[ours] = value
		}
	}
	list := func(ours string, value, kind any) {
		if value != nil {
			e := map[string]any{"value": value}
			if kind != nil {
				e["type"] = kind
			}
			r[ours] = []any{e}
		}
	}
	date := func(d any) any {
		m, is := d.(map[string]any)
		if !is {
			return nil
		}
		if m["year"] == nil {
			return fmt.Sprintf("--%02.0f-%02.0f", m["month"], m["day"])
		}
		return fmt.Sprintf("%04.0f-%02.0f-%02.0f", m["year"], m["month"], m["day"])
	}
	r["full_name"] = one("names")["displayName"]
	if r["full_name"] == nil {
		r["full_name"] = one("organizations")["name"]
	}
	if r["full_name"] == nil {
		r["full_name"] = one("emailAddresses")["value"]
	}
	put("given_name", one("names")["givenName"])
	put("family_name", one("names")["familyName"])
	put("nickname", one("nicknames")["value"])
	put("organization", one("organizations")["name"])
	put("department", one("organizations")["department"])
	put("title", one("organizations")["title"])
	put("note", one("biographies")["value"])
	put("birthday", date(one("birthdays")["date"]))
	put("updated_at", w["updated_at"])
	list("emails", one("emailAddresses")["value"], one("emailAddresses")["type"])
	list("phones", one("phoneNumbers")["value"], one("phoneNumbers")["type"])
	list("urls", one("urls")["value"], one("urls")["type"])
	list("related", one("relations")["person"], one("relations")["type"])
	list("messaging", one("imClients")["username"], one("imClients")["protocol"])
	list("custom", one("userDefined")["value"], one("userDefined")["key"])
	list("dates", date(one("events")["date"]), one("events")["type"])
	if a := one("addresses"); len(a) > 0 {
		r["addresses"] = []any{map[string]any{"formatted": a["formattedValue"], "street": a["streetAddress"],
			"locality": a["city"], "postal_code": a["postalCode"], "country": a["country"], "type": a["type"]}}
	}
	if m, is := one("memberships")["contactGroupMembership"].(map[string]any); is {
		r["group_ids"] = []any{m["contactGroupResourceName"]}
	}
	if r["has_photo"] = one("photos")["default"] == false; r["has_photo"] == true {
		r["photo_url"] = one("photos")["url"]
	}
	put("gender", one("genders")["value"])
	put("file_as", one("fileAses")["value"])
	list("occupations", one("occupations")["value"], nil)
	list("calendar_urls", one("calendarUrls")["url"], one("calendarUrls")["type"])
	list("sip_addresses", one("sipAddresses")["value"], one("sipAddresses")["type"])
	return json.Marshal(r)
}
