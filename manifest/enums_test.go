package manifest

import (
	"reflect"
	"slices"
	"testing"
)

// vocabulary checks one enum: its list is complete against want, only listed
// values are valid, and the reflective users see the same list.
func vocabulary[T interface {
	~string
	enumType
}](t *testing.T, list []T, want ...T) {
	t.Helper()
	if !slices.Equal(list, want) {
		t.Errorf("%T values are %v, want %v", list, list, want)
	}
	for _, v := range list {
		if !v.Valid() {
			t.Errorf("%T %q is listed and not valid", v, v)
		}
	}
	for _, v := range []T{"", "no such value", T("x" + string(list[0]))} {
		if v.Valid() {
			t.Errorf("%T %q is valid and not listed", v, v)
		}
	}
	if got := reflect.Zero(reflect.TypeFor[T]()).Interface().(enumType).values(); !slices.Equal(got, stringsOf(list)) {
		t.Errorf("%T.values() = %v, want %v", list[0], got, list)
	}
}

func TestVocabularies(t *testing.T) {
	vocabulary(t, ProtocolVersions, "0.1.0")
	vocabulary(t, Bindings, "browser", "filesystem", "interactive", "network", "local_device")
	vocabulary(t, HumanInteractions, "credentials", "otp", "manual_action")
	vocabulary(t, RefreshModes, "automatic", "manual", "paused")
	vocabulary(t, InteractionPostures, "none", "credentials", "otp_likely", "manual_action_likely")
	vocabulary(t, Sensitivities, "low", "medium", "high")
	vocabulary(
		t,
		Modalities,
		"static_secret",
		"manual_or_upload",
		"browser_session",
		"provider_auth",
		"local_files",
		"none",
	)
	vocabulary(
		t,
		CredentialKinds,
		"access_token",
		"api_key",
		"app_password",
		"personal_access_token",
		"secret_bundle",
		"username_password",
	)
	vocabulary(t, ClientAuths, "header", "body")
	vocabulary(t, FieldTypes, "text", "password", "email", "url", "number", "textarea", "checkbox")
	vocabulary(t, AllSemantics, "append_only", "mutable_state")
	vocabulary(t, CoveragePolicies, "collect", "deferred", "inventory_only", "unavailable", "unsupported")
	vocabulary(t, AvailabilityStates, "supported", "unsupported_in_mode", "experimental", "deprecated")
	vocabulary(
		t,
		CoverageStrategies,
		"checkpoint_window",
		"full_inventory",
		"parent_detail_accounting",
		"snapshot_import_receipt",
		"singleton_presence",
	)
	vocabulary(
		t,
		FreshnessStrategies,
		"device_heartbeat",
		"manual_as_of",
		"not_trackable",
		"scheduled_window",
		"source_reported_as_of",
	)
	vocabulary(t, Checkpoints, "slice", "run")
	vocabulary(t, Cardinalities, "has_one", "has_many")
	vocabulary(t, RangeOperators, "gt", "gte", "lt", "lte")
	vocabulary(t, Headfuls, "never", "preferred")
	vocabulary(t, Runtimes, "node", "deno", "python", "binary")
}
