package main

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// A kind describes a resource type whose state is a Model. Its functions call the
// server; create and read set the computed attributes of the model. If update is nil, every
// attribute must be one whose change replaces the resource, such as fixedText.
type kind[Model any] struct {
	name   string // without the prefix of the provider
	schema schema.Schema
	create func(context.Context, *server, *Model) error
	read   func(context.Context, *server, *Model) error
	update func(context.Context, *server, *Model) error
	delete func(context.Context, *server, *Model) error

	// importID names the attributes that an import id consists of, separated by slashes.
	importID []string
}

// managed implements resource.Resource for a kind.
type managed[Model any] struct {
	kind   kind[Model]
	server *server
}

func newResource[Model any](k kind[Model]) func() resource.Resource {
	return func() resource.Resource { return &managed[Model]{kind: k} }
}

func (m *managed[Model]) Metadata(_ context.Context, q resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = q.ProviderTypeName + "_" + m.kind.name
}

func (m *managed[Model]) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	r.Schema = m.kind.schema
}

func (m *managed[Model]) Configure(_ context.Context, q resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	m.server, _ = q.ProviderData.(*server) // nil before the provider is configured
}

func (m *managed[Model]) Create(ctx context.Context, q resource.CreateRequest, r *resource.CreateResponse) {
	var model Model
	r.Diagnostics.Append(q.Plan.Get(ctx, &model)...)
	if r.Diagnostics.HasError() {
		return
	}
	if err := m.kind.create(ctx, m.server, &model); err != nil {
		r.Diagnostics.AddError("The resource was not created", err.Error())
		return
	}
	r.Diagnostics.Append(r.State.Set(ctx, &model)...)
}

func (m *managed[Model]) Read(ctx context.Context, q resource.ReadRequest, r *resource.ReadResponse) {
	var model Model
	r.Diagnostics.Append(q.State.Get(ctx, &model)...)
	if r.Diagnostics.HasError() {
		return
	}
	err := m.kind.read(ctx, m.server, &model)
	switch {
	case errors.Is(err, errNotFound):
		r.State.RemoveResource(ctx)
	case err != nil:
		r.Diagnostics.AddError("The resource was not read", err.Error())
	default:
		r.Diagnostics.Append(r.State.Set(ctx, &model)...)
	}
}

func (m *managed[Model]) Update(ctx context.Context, q resource.UpdateRequest, r *resource.UpdateResponse) {
	var model Model
	r.Diagnostics.Append(q.Plan.Get(ctx, &model)...)
	if r.Diagnostics.HasError() {
		return
	}
	if err := m.kind.update(ctx, m.server, &model); err != nil {
		r.Diagnostics.AddError("The resource was not changed", err.Error())
		return
	}
	r.Diagnostics.Append(r.State.Set(ctx, &model)...)
}

func (m *managed[Model]) Delete(ctx context.Context, q resource.DeleteRequest, r *resource.DeleteResponse) {
	var model Model
	r.Diagnostics.Append(q.State.Get(ctx, &model)...)
	if r.Diagnostics.HasError() {
		return
	}
	if err := m.kind.delete(ctx, m.server, &model); err != nil && !errors.Is(err, errNotFound) {
		r.Diagnostics.AddError("The resource was not deleted", err.Error())
	}
}

func (m *managed[Model]) ImportState(ctx context.Context, q resource.ImportStateRequest, r *resource.ImportStateResponse) {
	parts := strings.Split(q.ID, "/")
	if len(parts) != len(m.kind.importID) {
		r.Diagnostics.AddError("The import id is not valid", "It must have the form "+strings.Join(m.kind.importID, "/")+".")
		return
	}
	for i, name := range m.kind.importID {
		r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root(name), types.StringValue(parts[i]))...)
	}
}
