// Words of the invitation's page.

export default {
  "invited.title": ["设置密码", "Set your PIN"],
  "invited.how": ["邀请码只能用一次。密码请勿告诉他人：凭此密码所做的一切都记在你名下。", "An invitation is good once. Tell nobody the PIN: whatever is done with it stands under your name."],
  "invited.code": ["邀请码", "Invitation code"],
  "invited.pin": ["新密码（数字）", "New PIN"],
  "invited.pin-hint": ["密码须为4至12位数字", "A PIN has 4 to 12 digits"],
  "invited.again": ["再输入一次", "Once more"],
  "invited.differ": ["两次输入不一致", "The two are not the same"],
  "invited.no-code": ["请输入邀请码", "Enter the invitation's code"],
  "invited.accept": ["确定并登录", "Set it and log in"],
  "invited.known": ["已有密码？登录", "You have a PIN? Log in"],
};
