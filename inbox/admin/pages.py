"""What the pages of the admin have in common: lists that count nothing, and changes by actions."""

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
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import Actor
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.translate import say

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
    _ModelForm = forms.ModelForm[Any]
else:
    _ModelAdmin = admin.ModelAdmin
    _ModelForm = forms.ModelForm

#: A longer text is cut: these pages find things, and the inbox shows them whole.
_MOST_CHARACTERS = 20_000
OLDER = "id__lt"


def column(of: str, title: str = "", *, as_json: bool = False) -> Callable[[Any], Any]:
    """What a row has at `of` (`thread.agent.slug`); nothing in a text is hidden."""

    def value(row: Any) -> Any:
        found = attrgetter(of)(row)
        if not isinstance(found, str):
            return found
        return (NAMES.text(found) if as_json else escape_invisible(found))[:_MOST_CHARACTERS]

    value.__name__ = of.replace(".", "_")
    return admin.display(description=title or of.replace(".", " ").replace("_", " "))(value)


class Newest(ChangeList):
    """The newest rows and a link to older ones: nothing is counted, and no page is far away."""

    older = newest = ""

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        return ["-id"]

    def get_results(self, request: HttpRequest) -> None:
        # Keys first: SQLite joins before it sorts, and would sort whole rows.
        keys = list(self.queryset.values_list("pk", flat=True)[: self.list_per_page + 1])
        shown = self.root_queryset.filter(pk__in=keys[: self.list_per_page])
        self.result_list = list(self.apply_select_related(shown).order_by("-id"))
        self.result_count = self.full_result_count = len(self.result_list)
        self.can_show_all = self.multi_page = False
        if len(keys) > self.list_per_page:
            self.older = self.get_query_string({OLDER: str(keys[-2])})
        if OLDER in self.filter_params:
            self.newest = self.get_query_string(remove=[OLDER])


class Page(_ModelAdmin):
    """
    Rows to be found and looked at, the newest first.

    `search_fields` are texts, `search_ids` are columns of UUIDs; `heavy` columns are not read for
    lists.
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

    # The site lets nobody in who may not see all.
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
        listed, shown = require_safe(self.changelist_view), require_safe(self.change_view)
        return [
            path("", site.admin_view(listed), name=f"{name}_changelist"),
            path("<path:object_id>/change/", site.admin_view(shown), name=f"{name}_change"),
        ]

    def get_changelist(self, request: HttpRequest, **_more: Any) -> type[ChangeList]:
        return Newest

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer(*self.heavy)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Only the filters that are shown: others could find out a digest letter by letter."""
        filters = [
            f"{name}{end}" for name in self.list_filter for end in ("__exact", "__id__exact")
        ]
        return lookup in (OLDER, *filters)

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        wanted = search_term.strip()
        if not wanted:
            return queryset, False
        found = Q(pk=None)
        for name in self.search_fields:
            found |= Q(**{f"{name}__icontains": wanted})
        with suppress(ValueError):  # a text, and no id
            found |= Q(*((name, UUID(wanted)) for name in self.search_ids), _connector=Q.OR)
        return queryset.filter(found), False


class ActionForm(_ModelForm):
    """
    A form whose last word is an action's.

    What it held when it was opened is sent with it, so that `changed` has what the person changed,
    and not what others have changed meanwhile.
    """

    #: What the action has refused; the same form is shown again with it.
    refusal: RequestRejected | None = None
    #: Where problems have other names than the fields of the form.
    names: Mapping[str, str] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = self.instance.pk is not None

    def clean(self) -> Any:
        cleaned = super().clean()
        if self.refusal is not None:
            problems = dict(self.refusal.detail.get("problems") or {None: [self.refusal.message]})
            for name, found in problems.items():
                # What is wrong with headers is told by their names.
                lists = found.values() if isinstance(found, dict) else [found]
                field = self.names.get(name, name)
                said = [say(text) for texts in lists for text in texts]
                self.add_error(field if field in self.fields else None, said)
        return cleaned

    @property
    def changed(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.changed_data}


class ChangedByActions(Page):
    """
    Rows that are added or changed, each time by an action.

    `buttons` are what can be done beside saving, by the name that is sent; `asks` says before which
    of them it is asked once more, as nothing brings back what they end.
    """

    form = ActionForm
    buttons: Mapping[str, Any] = {}
    asks: tuple[str, ...] = ()

    def add(self, actor: Actor, given: dict[str, Any]) -> tuple[Any, str]:
        """Call the action; return the key of the row, and a secret that is shown this once."""
        raise NotImplementedError

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        """Call the action; return a secret that is shown this once, or ''."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        form = require_http_methods(["GET", "HEAD", "POST"])
        adding = path("add/", site.admin_view(form(self.add_view)), name=f"{name}_add")
        listed, shown = super().get_urls()
        changing = path(
            "<path:object_id>/change/",
            site.admin_view(form(self.change_view)),
            name=shown.name,
        )
        return [listed, *([adding] if self._adds else []), changing]

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
        """Not in Django's transaction, as it would be: an action is one by itself, and durable."""
        pressed = next((name for name in self.asks if name in request.POST), "")
        if pressed and object_id and "_sure" not in request.POST:
            row = self.get_object(request, unquote(object_id))
            if row is not None and self.has_change_permission(request, row):
                return self._ask(request, row, pressed)
        context = {"show_save_and_add_another": False, "show_save_and_continue": False}
        view: Any = super()._changeform_view  # type: ignore[misc]  # stubs leave it out
        try:
            return view(request, object_id, form_url, context)
        except RequestRejected as refusal:
            request.refusal = refusal  # type: ignore[attr-defined]
            return view(request, object_id, form_url, context)

    def named(self, row: Any) -> str:
        """What a row is called where it is asked whether to end it."""
        return str(row)

    def _ask(self, request: HttpRequest, row: Any, pressed: str) -> HttpResponse:
        """Show what is about to end, with all that was sent, to be sent once more."""
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
            "named": escape_invisible(self.named(row)),
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
        """Nothing: an action changes all that belongs to a row."""

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
        context = {**site.each_context(request), "opts": self.opts, "secret": obj.told_once}
        return TemplateResponse(request, "admin/show_once.html", context)
