"""Base classes of the admin's pages: lists without counts, and changes through actions."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from inbox.admin.site import site
from inbox.queries.people.api_keys import actor_of_superuser
from inbox.rules.errors import ReauthenticationRequired, RequestRejected
from inbox.rules.people.access import Actor
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.step_up import confirm_identity
from inbox.web.base.translate import translate

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
    _ModelForm = forms.ModelForm[Any]
else:
    _ModelAdmin = admin.ModelAdmin
    _ModelForm = forms.ModelForm

#: Longer texts are truncated; the inbox shows them in full.
_MOST_CHARACTERS = 20_000
OLDER = "id__lt"


def column(of: str, title: str = "", *, as_json: bool = False) -> Callable[[Any], Any]:
    """Return a column for an attribute path such as `thread.agent.slug`, safely escaped."""

    def value(row: Any) -> Any:
        content = attrgetter(of)(row)
        if not isinstance(content, str):
            return content
        return (NAMES.text(content) if as_json else escape_invisible(content))[:_MOST_CHARACTERS]

    value.__name__ = of.replace(".", "_")
    return admin.display(description=title or of.replace(".", " ").replace("_", " "))(value)


class Newest(ChangeList):
    """The newest rows with a link to older ones: keyset pagination without counts."""

    older = newest = ""

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        return ["-id"]

    def get_results(self, request: HttpRequest) -> None:
        # Select keys first: SQLite joins before it sorts, and would sort full rows.
        keys = list(self.queryset.values_list("pk", flat=True)[: self.list_per_page + 1])
        rows = self.root_queryset.filter(pk__in=keys[: self.list_per_page])
        self.result_list = list(self.apply_select_related(rows).order_by("-id"))
        self.result_count = self.full_result_count = len(self.result_list)
        self.can_show_all = self.multi_page = False
        if len(keys) > self.list_per_page:
            self.older = self.get_query_string({OLDER: str(keys[-2])})
        if OLDER in self.filter_params:
            self.newest = self.get_query_string(remove=[OLDER])


class Page(_ModelAdmin):
    """
    A read-only page with search, the newest rows first.

    `search_fields` are text columns, `search_ids` UUID columns. `heavy` columns are not loaded.
    """

    search_ids: tuple[str, ...] = ("pk",)
    heavy: tuple[str, ...] = ()
    fields: ClassVar[Any] = None
    readonly_fields: ClassVar[Any] = ()
    search_help_text: ClassVar[Any] = _("Part of a text, or a complete id.")
    actions = None
    list_per_page = 100
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    view_on_site = False

    # The site admits only superusers, who may see everything.
    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        list_view, row_view = require_safe(self.changelist_view), require_safe(self.change_view)
        return [
            path("", site.admin_view(list_view), name=f"{name}_changelist"),
            path("<path:object_id>/change/", site.admin_view(row_view), name=f"{name}_change"),
        ]

    def get_changelist(self, request: HttpRequest, **_more: Any) -> type[ChangeList]:
        return Newest

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer(*self.heavy)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the displayed filters; others could probe secret digests letter by letter."""
        filters = [
            f"{name}{end}" for name in self.list_filter for end in ("__exact", "__id__exact")
        ]
        return lookup in (OLDER, *filters)

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        text = search_term.strip()
        if not text:
            return queryset, False
        matches = Q(pk=None)
        for name in self.search_fields:
            matches |= Q(**{f"{name}__icontains": text})
        with suppress(ValueError):  # a text, and no id
            matches |= Q(*((name, UUID(text)) for name in self.search_ids), _connector=Q.OR)
        return queryset.filter(matches), False


class ActionForm(_ModelForm):
    """
    A form that is validated by an action too.

    It posts its initial values too, so that `changed` has only what the user changed, not what
    others have changed in the meantime.
    """

    #: The action's error, displayed when the form is rendered again.
    refusal: RequestRejected | None = None
    #: Form fields by the action's field names, where the two differ.
    names: Mapping[str, str] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = self.instance.pk is not None

    def clean(self) -> Any:
        cleaned = super().clean()
        if self.refusal is not None:
            problems = dict(self.refusal.detail.get("problems") or {None: [self.refusal.message]})
            for name, value in problems.items():
                # Problems with headers come as a dict by header name.
                groups = value.values() if isinstance(value, dict) else [value]
                field = self.names.get(name, name)
                messages = [translate(text) for texts in groups for text in texts]
                self.add_error(field if field in self.fields else None, messages)
        return cleaned

    @property
    def changed(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.changed_data}


class ChangedByActions(Page):
    """
    A page that adds and changes rows through actions.

    `buttons` are further commands with their labels, by posted name. Those in `asks` need a
    confirmation, because they cannot be undone.
    """

    form = ActionForm
    buttons: Mapping[str, Any] = {}
    asks: tuple[str, ...] = ()

    def add(self, actor: Actor, values: dict[str, Any]) -> tuple[Any, str]:
        """Call the action; return the row's key and a secret to display once, or ""."""
        raise NotImplementedError

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        """Call the action; return a secret to display once, or ''."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        form = require_http_methods(["GET", "HEAD", "POST"])
        add_url = path("add/", site.admin_view(form(self.add_view)), name=f"{name}_add")
        list_url, row_url = super().get_urls()
        change_url = path(
            "<path:object_id>/change/",
            site.admin_view(form(self.change_view)),
            name=row_url.name,
        )
        return [list_url, *([add_url] if self._adds else []), change_url]

    @property
    def _adds(self) -> bool:
        return type(self).add is not ChangedByActions.add

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._adds

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kw: Any
    ) -> Any:
        form = super().get_form(request, obj, change, **kw)
        return type(form.__name__, (form,), {"refusal": getattr(request, "refusal", None)})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Skip Django's transaction: each action is a durable transaction of its own."""
        pressed = next((name for name in self.asks if name in request.POST), "")
        if pressed and object_id and "_sure" not in request.POST:
            row = self.get_object(request, unquote(object_id))
            if row is not None and self.has_change_permission(request, row):
                return self._ask(request, row, pressed)
        context = {"show_save_and_add_another": False, "show_save_and_continue": False}
        view: Any = super()._changeform_view  # type: ignore[misc]  # stubs leave it out
        try:
            return view(request, object_id, form_url, context)
        except ReauthenticationRequired:
            return confirm_identity(request, request.path)
        except RequestRejected as refusal:
            request.refusal = refusal  # type: ignore[attr-defined]
            return view(request, object_id, form_url, context)

    def address_of_secret(self, request: HttpRequest) -> str:
        """Return the address that a new secret is entered with elsewhere, or ""."""
        return ""

    def name_of(self, row: Any) -> str:
        """Return the row's name for the confirmation page."""
        return str(row)

    def _ask(self, request: HttpRequest, row: Any, pressed: str) -> HttpResponse:
        """Ask for confirmation; the page posts the same fields again."""
        sent = [
            (name, text)
            for name, texts in request.POST.lists()
            for text in texts
            if name != "csrfmiddlewaretoken"
        ]
        context = {
            **site.each_context(request),
            "title": self.buttons[pressed],
            "opts": self.opts,
            "name": escape_invisible(self.name_of(row)),
            "sent": sent,
            "back": request.path,
        }
        return TemplateResponse(request, "admin/confirm.html", context)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        user: Any = request.user
        actor = actor_of_superuser(user, request.session)
        if change:
            button = next((name for name in self.buttons if name in request.POST), "")
            obj.told_once = self.change(actor, obj, form, button)
        else:
            obj.pk, obj.told_once = self.add(actor, form.cleaned_data)

    def save_related(self, *_arguments: Any) -> None:
        """Do nothing: the action has changed the related rows."""

    def log_addition(self, *_arguments: Any) -> Any:
        """Nothing: the audit trail has it."""

    def log_change(self, *_arguments: Any) -> Any:
        """Nothing: the audit trail has it."""

    def response_add(self, request: HttpRequest, obj: Any, *_more: Any) -> HttpResponse:
        return self._told_once(request, obj) or super().response_add(request, obj)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self._told_once(request, obj) or super().response_change(request, obj)

    def _told_once(self, request: HttpRequest, obj: Any) -> HttpResponse | None:
        if not obj.told_once:
            return None
        context = {
            **site.each_context(request),
            "opts": self.opts,
            "title": str(obj),
            "secret": obj.told_once,
            "address": self.address_of_secret(request),
        }
        return TemplateResponse(request, "admin/show_once.html", context)
