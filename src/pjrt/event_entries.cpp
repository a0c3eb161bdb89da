#include "pjrt/entries.h"
#include "pjrt/event.h"

namespace heddle::pjrt {

namespace {

void error_destroy(ErrorArgs* args) { delete args->error; }

void error_message(ErrorMessageArgs* args) { args->message = text_of(args->error->status.message); }

Error* error_code(ErrorCodeArgs* args) {
  args->code = args->error->status.code;
  return nullptr;
}

Error* no_payload(Args*) { return nullptr; }

Error* event_destroy(EventArgs* args) {
  delete args->event;
  return nullptr;
}

Error* event_is_ready(EventIsReadyArgs* args) {
  args->is_ready = args->event->state->is_set();
  return nullptr;
}

Error* event_error(EventArgs* args) { return args->event->state->wait().release(); }

Error* event_on_ready(EventOnReadyArgs* args) {
  // The callback may destroy the handle; the state lives until this returns.
  const EventRef state = args->event->state;
  state->then([callback = args->callback, user = args->user](const Status& status) {
    callback(status.release(), user);
  });
  return nullptr;
}

Error* event_create(EventArgs* args) {
  return guarded([&] { args->event = handle_of(new_event()); });
}

Error* event_set(EventSetArgs* args) {
  args->event->state->set({args->code, string_of(args->message)});
  return nullptr;
}

}  // namespace

void set_event_entries(Table& table) {
  table.entries[static_cast<int>(EntryId::Error_Destroy)] = reinterpret_cast<Entry>(error_destroy);
  table.entries[static_cast<int>(EntryId::Error_Message)] = reinterpret_cast<Entry>(error_message);
  set_entry(table, EntryId::Error_GetCode, error_code);
  set_entry(table, EntryId::Error_ForEachPayload, no_payload);
  set_entry(table, EntryId::Event_Destroy, event_destroy);
  set_entry(table, EntryId::Event_IsReady, event_is_ready);
  set_entry(table, EntryId::Event_Error, event_error);
  set_entry(table, EntryId::Event_Await, event_error);
  set_entry(table, EntryId::Event_OnReady, event_on_ready);
  set_entry(table, EntryId::Event_Create, event_create);
  set_entry(table, EntryId::Event_Set, event_set);
}

}  // namespace heddle::pjrt
