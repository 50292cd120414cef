package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// gvk is how aggregated discovery names a kind.
type gvk struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type groupList struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Resources []struct {
				Resource         string
				ResponseKind     gvk
				Scope            string
				SingularResource string
				Verbs            []string
				ShortNames       []string
				Categories       []string
				Subresources     []struct {
					Subresource  string
					ResponseKind gvk
					Verbs        []string
				}
			}
		}
	}
}

type subresource struct {
	Name string `json:"name"`
	gvk
	Verbs []string `json:"verbs"`
}

type resource struct {
	gvk
	Resource       string        `json:"resource"`
	Singular       string        `json:"singular"`
	Namespaced     bool          `json:"namespaced"`
	ShortNames     []string      `json:"shortNames"`
	Categories     []string      `json:"categories"`
	Verbs          []string      `json:"verbs"`
	Subresources   []subresource `json:"subresources"`
	StorageVersion string        `json:"storageVersion"`
}

// writeResources saves what the server serves by default. The first version of a group is its preferred one.
func writeResources(path, discovery string) {
	var result []resource
	for _, name := range []string{"api.json", "apis.json"} {
		data, err := os.ReadFile(filepath.Join(discovery, name))
		check(err)
		var list groupList
		check(json.Unmarshal(data, &list))
		for _, group := range list.Items {
			preferred := map[string]string{}
			for _, version := range group.Versions {
				for _, r := range version.Resources {
					if _, ok := preferred[r.Resource]; !ok {
						preferred[r.Resource] = version.Version
					}
					kind := gvk{group.Metadata.Name, version.Version, r.ResponseKind.Kind}
					entry := resource{gvk: kind, Resource: r.Resource, Singular: r.SingularResource,
						Namespaced: r.Scope == "Namespaced", ShortNames: list0(r.ShortNames), Categories: list0(r.Categories),
						Verbs: list0(r.Verbs), Subresources: []subresource{}, StorageVersion: preferred[r.Resource]}
					for _, sub := range r.Subresources {
						of := sub.ResponseKind
						if of.Version == "" {
							of.Group, of.Version = kind.Group, kind.Version
						}
						entry.Subresources = append(entry.Subresources, subresource{sub.Subresource, of, sub.Verbs})
					}
					result = append(result, entry)
				}
			}
		}
	}
	data, err := json.Marshal(result)
	check(err)
	check(os.WriteFile(path, append(data, '\n'), 0o644))
}

func list0(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
