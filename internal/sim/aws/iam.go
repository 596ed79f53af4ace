package aws

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/sim/world"
)

func iamService(c *Cloud) {
	e := c.inventory
	c.register("iam", "GetAccountAuthorizationDetails", c.authorization)
	c.register("iam", "GetAccountSummary", func(x *call) (answer, error) {
		o, _ := c.Get(e.summaries, x.global(), x.account)
		var entries []any
		for _, f := range o.Visible() {
			entries = append(entries, world.Obj("key", f.Name, "value", f.Value))
		}
		return answer{Object: world.Obj("SummaryMap", listOf("entry", entries))}, nil
	})
	c.register("iam", "GetAccountPasswordPolicy", func(x *call) (answer, error) {
		o, ok := c.Get(e.passwordPolicies, x.global(), x.account)
		if !ok {
			return answer{}, &failure{404, "NoSuchEntity", "The Password Policy with domain name " + x.account + " cannot be found."}
		}
		return answer{Object: world.Obj("PasswordPolicy", o.Visible())}, nil
	})
	c.register("iam", "ListAccountAliases", func(x *call) (answer, error) {
		return answer{Object: world.Obj("AccountAliases", world.Items("company-"+x.account), "IsTruncated", false)}, nil
	})
	c.register("iam", "GenerateCredentialReport", func(*call) (answer, error) {
		return answer{Object: world.Obj("State", "COMPLETE", "Description", "")}, nil
	})
	c.register("iam", "GetCredentialReport", func(x *call) (answer, error) {
		text := base64.StdEncoding.EncodeToString([]byte(c.credentialReport(x.global())))
		return answer{Object: world.Obj("Content", text, "ReportFormat", "text/csv", "GeneratedTime", c.options.Today)}, nil
	})
	paged := func(action, field string, kind *world.Kind) {
		c.register("iam", action, func(x *call) (answer, error) {
			return x.list(c, listing{
				kind: kind, global: true, field: field, token: "Marker", next: "Marker", max: "MaxItems", truncated: "IsTruncated", page: 1000,
				only: func(_ string, o world.Object) bool {
					status := x.text("AssignmentStatus") // only ListVirtualMFADevices has this parameter
					return status == "" || status == "Any" || status == "Assigned" && o.Get("User") != nil
				},
			})
		})
	}
	paged("ListInstanceProfiles", "InstanceProfiles", e.profiles)
	paged("ListServerCertificates", "ServerCertificateMetadataList", e.certificates)
	paged("ListVirtualMFADevices", "VirtualMFADevices", e.mfaDevices)
	paged("ListSAMLProviders", "SAMLProviderList", e.samlProviders)
	paged("ListOpenIDConnectProviders", "OpenIDConnectProviderList", e.oidcProviders)
}

// authorization returns identities and policies, one kind after another, in
// pages. The marker contains the kind's number and the position in it.
func (c *Cloud) authorization(x *call) (answer, error) {
	e := c.inventory
	parts := []struct {
		filter []string
		field  string
		kind   *world.Kind
	}{
		{[]string{"User"}, "UserDetailList", e.users},
		{[]string{"Group"}, "GroupDetailList", e.groups},
		{[]string{"Role"}, "RoleDetailList", e.roles},
		{[]string{"LocalManagedPolicy", "AWSManagedPolicy"}, "Policies", e.policies},
	}
	filter := x.texts("Filter")
	requested := func(names []string) bool {
		return len(filter) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(filter, name) })
	}
	first, offset, _ := strings.Cut(x.text("Marker"), ".")
	start, _ := strconv.Atoi(first)
	from, _ := strconv.Atoi(offset)
	remaining := min(x.number("MaxItems", 100), 1000)
	out := world.Object{}
	for i := start; i < len(parts); i, from = i+1, 0 {
		if !requested(parts[i].filter) {
			continue
		}
		var items []any
		next := c.List(parts[i].kind, x.global(), from, remaining, func(_ string, o world.Object) bool {
			items = append(items, o.Visible())
			remaining--
			return true
		})
		out = append(out, world.Obj(parts[i].field, items)...)
		if next >= 0 {
			return answer{Object: append(out, world.Obj("IsTruncated", true, "Marker", strconv.Itoa(i)+"."+strconv.Itoa(next))...)}, nil
		}
	}
	return answer{Object: append(out, world.Obj("IsTruncated", false)...)}, nil
}

// reportColumns are the columns of the credential report, in order.
var reportColumns = []string{
	"user", "arn", "user_creation_time", "password_enabled", "password_last_used", "password_last_changed", "password_next_rotation", "mfa_active",
	"access_key_1_active", "access_key_1_last_rotated", "access_key_1_last_used_date", "access_key_1_last_used_region", "access_key_1_last_used_service",
	"access_key_2_active", "access_key_2_last_rotated", "access_key_2_last_used_date", "access_key_2_last_used_region", "access_key_2_last_used_service",
	"cert_1_active", "cert_1_last_rotated", "cert_2_active", "cert_2_last_rotated",
}

func (c *Cloud) credentialReport(p world.Place) string {
	var b strings.Builder
	b.WriteString(strings.Join(reportColumns, ","))
	row := func(user, arn string, line world.Object) {
		line = append(world.Obj("user", user, "arn", arn, "user_creation_time", scalar(c.ago(400)), "password_next_rotation", "N/A"), line...)
		b.WriteByte('\n')
		for i, column := range reportColumns {
			if i > 0 {
				b.WriteByte(',')
			}
			switch v := line.Get(column); {
			case v != nil:
				b.WriteString(scalar(v))
			case strings.HasSuffix(column, "_active"):
				b.WriteString("false")
			default:
				b.WriteString("N/A")
			}
		}
	}
	root, _ := c.Get(c.inventory.summaries, p, p.Account)
	report, _ := root.Get("_report").(world.Object)
	row("<root_account>", arn("iam", p, "root"), report)
	c.List(c.inventory.users, p, 0, -1, func(name string, o world.Object) bool {
		report, _ := o.Get("_report").(world.Object)
		row(name, o.Text("Arn"), report)
		return true
	})
	return b.String()
}
